"""Words of a statement that a summary should not lose though they are no number, date or name: "peanut".

A rule of the page's own words and a fixed list, so that the same page and units always count alike.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tiermem.text.words import STOP_WORDS, sentences, stem, word_list, words

SHORTEST = 3
"""Letters a word has at least."""

_HOW = ("ing", "ly", "ed", "ful", "ous", "ive", "able", "ible")
"""Endings of words that mostly say how or that something was done, and seldom what it is about."""

_SOMEBODY = re.compile(
    r"\b(?:i|my|me|mine|we|our|us|he|his|him|she|her|they|their|them)\b(?:['’](?:m|ve|d|ll|re|s)\b)?",
    re.IGNORECASE,
)

COMMON = frozenset(
    word_list("""
        abil abl access achiev across act action activ adapt add addit adjust admir adopt advanc
        adventur advic affect afford afterward against age ago agre ahead air align aliv allow
        almost alon along alreadi alright altern alway amount anim anymor anyth anytim anyway apart
        app appli applic appreci approach architectur area art artist ask aspect assist athlet
        atmospher attend authent author avail avoid away back background bad bag bake balanc ball
        bank bar base basic basketbal battl beach beat beauti becom bed begin beginn behind believ
        bench benefit best bet better big bigger biggest bike birthday bit black blast blend blue
        board bodi bond book boost boundari bowl box boy brainstorm brand break breakfast breath
        breathtak bright brighten bring btw build bunch burn busi buy cafe cake call calm
        camera camp campaign captiv captur car card care career case cat catch caus celebr center
        certain challeng chanc chang charact chariti chase chat check cheer chicken child chill
        choic choos church citi class classic clean clear clock close closer cloth club coffe
        collabor colleagu collect color combin come comfort commit communic communiti compani compar
        compass competit complet complex comput concern concert condit confer confid connect consid
        consist contact continu contribut control convers cook cost couch countri coupl cours court
        cover cozi craft crazi cream creat creativ crowd crucial cultur curious current custom cut
        cute daili damag date day deal decid decis dedic deep deeper delici describ deserv design
        desk destin detail determin develop differ difficult dinner direct discov discuss dish
        display distanc dive divers doctor dog done dont door doubt draw dream drink drive drop due
        earli earlier earn earth easi easier eat educ effect effort egg electr els emot encourag end
        energ energi engag engin enjoy enough ensur entertain enthusiast entir environ epic escap
        especi essenti even evening event eventu ever everyday exam exampl excit exercis expect
        expens experi explain explor express extra eye face fair fall famili fan fantasi fantast far
        fascin fast favorit featur feedback feel festiv field fight figur fill film final find fine
        finish fire first fit fix flavor flexibl fli flight floor flow flower focus follow food
        forget form forward free french fresh fri friend friendship front fulfil full fun funni
        futur gain game garden gather gear general generat get girl give go goal goe golden grab
        grate green ground group grow growth guess guid guy gym habit hair hand handl hang happen
        happi hard harder head health healthi hear heart help high highlight hike histori hit hobbi
        hold home homeless homemad honest hook hope hot hour hous huge huh human hunt ice idea
        imagin immers impact import impress improv includ incorpor increas incred inde individu
        industri influenc info inform ingredi initi injuri insight inspir instead instructor
        instrument intens interest invest invit involv issu item job join journey joy keep key kid
        kill kind kinda king kitchen know knowledg lack lake languag laptop larg last late later
        latest laugh lay layer lead leader leagu lean learn least leav leg lend less lesson let
        level life light like limit line list listen littl live load local locat long longer look
        lose lot love low loyalti luck lucki lunch machin magic main maintain major make man manag
        map market mask mat matter meal mean meaning mechan meet memor memori men mental mention
        middl might mile mind mine minut miss mistak mix model modern mom moment money month
        mood moon morn most motiv mountain move movi muscl museum music must name nation natur near
        nearbi necessari neck need neighborhood network new news night non normal note notic novel
        now number obvious ocean offer offic often oil old one onlin open opportun option order
        organiz other outdoor outsid overal overwhelm pack page pain paint pair paper parent park
        part parti particip particular pass passion past path pay peac perfect perform period person
        perspect pet phone photo photographi physic pic pick pictur piec pizza place plan plant
        plate platform play player plus point polit popular pose posit possibl post poster pot
        potenti power practic prefer prep prepar present pretti price probabl problem process
        product profession program progress project promis promot proper protect proud provid purpos
        pursu push put qualiti question quick quit rais random rang rather reach read readi real
        realist realiti realiz reason receiv recent recip recommend red reduc refresh regard regular
        relat relationship relax reli remind repair replac requir research resili resourc respond
        respons rest restaur result reward rich ride road rock role room rough rout routin run sad
        safe salad sale sandwich satisfi save say scene schedul school scienc screen search season
        seat second see seem self sell send sens seri serious serv servic session set sever shake
        shape share shelf shelter shift shoe shoot shop short shot show sick side sight sign
        signific similar simpl sit situat skill sleep slow small smaller smart smile smooth snack
        soccer social solid solut sometim somewher song soon sort soul sound sourc space speak
        special specif speed spend spirit sport spot spread stand start state stay step stick stop
        store stori storytel strategi street strength stress strong stronger structur struggl stuck
        student studi studio stuff stun style succeed success suck suggest suit suitabl summer sun
        sunset super support surpris surround sweet switch system tabl tackl take talent talk task
        tast tasti tea teach team teammat tech techniqu technolog tell tend term test thank that
        theme thing think thought thrill throughout throw tight time tip tire togeth tomato ton tone
        tool top topic total touch tough tour tournament toward tower toy track tradit trail train
        transform transport travel treat tree tri trip troubl truli trust tune turn twist type typic
        understand unexpect uniqu unit up upcom updat upgrad use usual vacat valu valuabl varieti
        various venu vibe vibrant video view visit visual volunt wait wake walk wall want warm watch
        water way wear weather websit week weekend weight weird welcom whatev whenev whether white
        whole wife wild win wind window wish wit within without woman wonder word work workout world
        worri worth write wrong year yet yoga young younger yup
    """)
)
"""Stems of the thousand words that most conversations hold, from dialogue on which the rule was not measured:
(endings, sentences and size of the list were chosen on the pages whose figures `omissions` tells)
by the geometric mean of the shares of sessions in LongMemEval (what users say) and REALTALK, and of pages
in the LoCoMo conversations without recorded facts. Names are left out.
"""


@lru_cache(maxsize=256)
def rare_words(text: str) -> tuple[str, ...]:
    """The rare content words of statements about somebody, in order, each once, in lower case.

    Rare is what is not among `COMMON`. Questions, praise of the other and captions of pictures tell nothing
    about anybody and do not count. Names count as words here: a caller that counts names leaves them out.
    """
    found = (
        word
        for piece in sentences(text)
        if _SOMEBODY.search(piece.text) and not piece.text.endswith("?")
        for word in words(piece.text)
        if _is_rare(word)
    )
    return tuple(dict.fromkeys(found))


def _is_rare(word: str) -> bool:
    plain = word.removesuffix("'s")
    if len(plain) < SHORTEST or not plain.isalpha() or plain.endswith(_HOW):
        return False
    return plain not in STOP_WORDS and stem(plain) not in COMMON
