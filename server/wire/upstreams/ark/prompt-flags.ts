/**
 * Reads parameters at the end of a prompt, such as `--rs 1080p --dur 12`, an older form that the
 * vendor still obeys (docs/protocols/ark.md#video-request-fields). They are checked, held for and
 * sent as parameters. A flag that contradicts the request's own parameter is refused, because only
 * one of the two can be priced.
 */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { foldForms } from '../../../base/lib/text/fold-forms.ts'

/** Flags that decide the price, in both spellings. Others pass with the text. */
const PARAMETERS: Readonly<Record<string, string>> = {
  rs: 'resolution',
  resolution: 'resolution',
  rt: 'ratio',
  ratio: 'ratio',
  dur: 'duration',
  duration: 'duration',
  frames: 'frames',
}
/**
 * Read wherever a vendor could read one: behind any character, with or without a separator, and
 * with the dash that editors put in place of two hyphens.
 */
const FLAG = /(--|[–—―]-*)(resolution|duration|frames|ratio|dur|rs|rt)(?![a-z])[\s=:,]*(\S{1,40})/gi
const DIGIT = /^\d/
const NUMERIC: ReadonlySet<string> = new Set(['duration', 'frames'])
/** The two parameters for the length of a video, each with the other. */
const LENGTHS: Readonly<Record<string, string>> = { duration: 'frames', frames: 'duration' }

export interface FlagProblem {
  readonly param: string
  readonly problem: string
}

interface Ordered {
  readonly parameters: JsonObject
  readonly sentFields: ReadonlySet<string>
}

/** Returns the order with its flags as parameters, or the first problem with them. */
export function readPromptFlags({ parameters, sentFields }: Ordered): Ordered | FlagProblem {
  const read = new Map<string, string | number>()
  for (const [flag, name, text] of listFlags(parameters.content)) {
    const value = NUMERIC.has(name) ? Number(text) : text.toLowerCase()
    if (Number.isNaN(value)) return refuse(`'${flag}' is not a number`)
    const other = LENGTHS[name] ?? ''
    const known = sentFields.has(name) ? parameters[name] : read.get(name)
    if (known !== undefined && known !== null && known !== value) {
      return refuse(`'${flag}' contradicts ${name}`)
    }
    if (sentFields.has(other) || read.has(other)) return refuse(`'${flag}' contradicts ${other}`)
    read.set(name, value)
  }
  if (read.size === 0) return { parameters, sentFields }
  return {
    parameters: { ...parameters, ...Object.fromEntries(read) },
    sentFields: new Set([...sentFields, ...read.keys()]),
  }
}

function refuse(problem: string): FlagProblem {
  return { param: 'content', problem }
}

function* listFlags(
  content: unknown,
): Generator<readonly [flag: string, name: string, text: string]> {
  for (const item of Array.isArray(content) ? content : []) {
    const prompt = foldForms(asString(member(item, 'text')) ?? '')
    for (const [flag, dash = '', word = '', text = ''] of prompt.matchAll(FLAG)) {
      const name = PARAMETERS[word.toLowerCase()]
      // In prose, these words may also follow a dash.
      const isFlag = dash.startsWith('-') || DIGIT.test(text)
      if (name && isFlag) yield [flag, name, text]
    }
  }
}
