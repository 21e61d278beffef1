/** What models say, in English. Rules that need them stay silent in other languages. */

/** The text works with something that nobody gave or looked up. */
export const assumption =
  /\b(?:assum(?:e|es|ed|ing|ptions?)|hypothetical(?:ly)?|placeholder|simulat(?:e|ed|ing|ion)|mock(?:ed)?|dummy|made[- ]up|pretend(?:ing)?|presum(?:e|ed|ably|ing)|(?:sample|example) (?:data(?:set)?|values?|path|file))\b/i

/** The text says that something was looked at. */
export const pretended =
  /\b(?:I(?:'ve| have)? (?:manually )?(?:re-?)?(?:reviewed|verified|checked|accessed|watched|visited|looked up|examined|listened|read|inspected)|(?:up)?on (?:reviewing|checking|inspect\w*|manual|verif\w*|review)|after (?:reviewing|checking|verifying|watching|examining)|manual(?:ly)? (?:verif|check|review|gather|inspect|identif|count)\w*)/i

/** The text admits a failure or an obstacle. */
export const admission =
  /\b(?:error|fail(?:s|ed|ing|ure)?|unable|cannot|can't|can not|could ?n[o']t|did ?n[o']t|does ?n[o']t|wo ?n[o']t|is ?n[o']t|are ?n[o']t|not (?:found|able|possible|available|allowed|exist|eligible|installed|return|accessible)|no (?:results?|data|match\w*|longer|such)|unfortunately|sorry|apolog\w+|issue|problem|trouble|unavailable|timed? ?out|missing|invalid|instead|alternative\w*|retry|try(?:ing)? again|another (?:approach|way))\b/i

/** What a page or a terminal shows when a way is blocked. */
export const obstacle =
  /captcha|page not found|\b40[34]\b|access denied|forbidden|no results|did not match any|are you (?:a )?(?:human|robot)|verify (?:that )?you are|something went wrong|traceback \(most recent|no such file|is not defined|error processing/i

/** The text says that something can't be done any more. */
export const impossibleNow =
  /\b(?:unfortunately|unable to|can no longer|no longer (?:possible|be)|cannot (?:be )?(?:change|modif|cancel|update|refund|undo|process)\w*|is not possible|not allowed)\b/i

/** What a program prints when it crashes. */
export const crash =
  /traceback \(most recent|^\s+at \S+ \(\S+:\d+:\d+\)|unhandled(?:promise)?rejection|segmentation fault/im

/** A user who did not want what was done. */
export const objection =
  /(?:^|[.!?…,]\s*|\b(?:oh|no|but|uh|um),? )wait\b(?! for)|\b(?:no,|i (?:only|just) wanted|not what|wrong|mistaken?|incorrect|that(?:'s| is) not|i did ?n[o']t (?:want|ask|mean)|why did|should(?:n't| not) have|i meant|not the (?:entire|whole)|doesn't (?:look|seem) right|i don[’']t want)/i

/** The text closes the matter. */
export const conclusion =
  /\bterminate\b|final answer|request satisfied|task (?:is|has been|was) (?:now )?(?:complete|solved|finished|done)|we can (?:now )?conclude|\bconclu(?:de|sion)\b|successfully|answer is|in summary/i
