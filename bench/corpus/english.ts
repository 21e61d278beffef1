import type { Random } from './random.ts'

/** Common English words, roughly by frequency, then words of customer service, research and code. */
const commonWords =
  `the of and to a in is that it for was on are as with his they at be this from have or by one had not but what all
were when we there can an your which their said if do will each about how up out them then she many some so these would other
into has more her two like him see time could no make than first been its who now people my made over did down only way find
use may water long little very after words called just where most know get through back much before go good new write our used
me man too any day same right look think also around another came come work three word must because does part even place well
such here take why things help put years different away again off went old number great tell men say small every found still
between name should home big give air line set own under read last never us left end along while might next sound below saw
something thought both few those always looked show large often together asked house world going want school important until
form food keep children feet land side without boy once animals life enough took sometimes four head above kind began almost
live page got earth need far hand high year mother light parts country father let night following picture being study second
eyes soon times story boys since white days ever paper hard near sentence better best across during today others however sure
means knew try told young miles sun ways thing whole hear example heard several change answer room sea against top turned learn
point city play toward five using himself usually customer order refund account payment invoice delivery shipment tracking
warehouse address receipt card charge policy return exchange replacement warranty product item stock price discount coupon
subscription plan renewal cancel upgrade support ticket agent request response message error retry timeout server database
query table column index record user session token model prompt tool result function argument value string integer list object
field schema version release branch commit test build deploy log trace span metric alert incident cause fix issue review merge
research paper source citation summary evidence claim figure method analysis finding experiment sample rate average total
estimate report market company revenue growth quarter forecast risk contract clause party agreement notice date deadline flight
hotel booking reservation departure arrival passenger seat luggage gate airport weather temperature rain cloud wind forecast
email calendar meeting agenda schedule reminder document file folder image chart spreadsheet row cell formula password login
security permission access key certificate network address port domain request header cookie cache memory disk process thread
queue worker job batch stream event handler callback promise module package import export class method property interface type`
    .split(/\s+/)
    .filter((word, index, all) => all.indexOf(word) === index)

const syllables =
  'ba be bri car cen co dra den el fa fer gor hal ine jo kel lan lor ma mer mon na nor o par pel qui ra rin sa sto tal ter un va ver wil xen yar zo'.split(
    ' ',
  )

const RARE_WORDS = 400_000
const SUCCESSORS = 14

const rarePattern = new RegExp(`^(?:${syllables.join('|')}){3,}$`)

/** Whether a word is an invented one, which occurs in few steps. */
export function isRareWord(word: string): boolean {
  return rarePattern.test(word) && !commonWords.includes(word)
}

/**
 * Generates text that looks like English to an index and a compressor: word frequencies follow Zipf's law, each word has its
 * own likely successors, and there is an occasional invented word (a name, a product, an id).
 */
export function createEnglish(random: Random): (length: number) => string {
  const successors = createSuccessors(random)
  let word = 0
  const next = (): string => {
    const choice = random.next()
    if (choice < 0.04) return rareWord(random.below(RARE_WORDS))
    if (choice < 0.06) return String(random.skewed(1, 100_000))
    word =
      choice < 0.5 ? successors[word * SUCCESSORS + random.below(SUCCESSORS)]! : commonIndex(random.next())
    return commonWords[word]!
  }
  return (length) => {
    let text = capitalise(next())
    let untilStop = random.between(6, 18)
    while (text.length < length) {
      untilStop -= 1
      if (untilStop > 0) text += untilStop % 7 === 3 ? `, ${next()}` : ` ${next()}`
      else {
        text += random.chance(0.12) ? `.\n${capitalise(next())}` : `. ${capitalise(next())}`
        untilStop = random.between(6, 18)
      }
    }
    return `${text}.`
  }
}

/** An invented word. */
export function rareWord(index: number): string {
  let text = ''
  for (let rest = index + syllables.length ** 2; rest > 0; rest = Math.floor(rest / syllables.length))
    text += syllables[rest % syllables.length]!
  return text
}

function createSuccessors(random: Random): Uint16Array {
  const successors = new Uint16Array(commonWords.length * SUCCESSORS)
  for (let index = 0; index < successors.length; index++) successors[index] = commonIndex(random.next())
  return successors
}

/** Picks a word with a probability of 1/rank. */
function commonIndex(uniform: number): number {
  return Math.min(commonWords.length - 1, Math.floor(commonWords.length ** uniform) - 1)
}

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
