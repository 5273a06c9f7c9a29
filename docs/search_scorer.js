// Sphinx's scores of search results, with decision records after all other pages (`html_search_scorer`).
var Scorer = {
  score: ([page, , , , score]) => (page.startsWith("decisions/") ? score - 1000 : score),
  // From here on what Sphinx has without this file: `searchtools.js`.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
