// Checks POST /api/v3/auc/lark/submit, as its clients use it.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { refused } from './outcome.ts'

export interface MinutesRequest {
  address: string
  language: 'zh_cn' | 'en_us'
  speakers: number
  identify: boolean
  words: boolean
  summary: boolean
  chapters: boolean
  todos: boolean
  questions: boolean
  /** Undefined if nothing is to be translated. */
  target: string | undefined
}

const SPEAKERS_FOUND = 2

export function addressOf(json: unknown): string {
  const input = isObject(json) && isObject(json.Input) ? json.Input.Offline : undefined
  return isObject(input) ? text(input.FileURL) : ''
}

export function readMinutes(json: unknown): MinutesRequest {
  if (!isObject(json) || !isObject(json.Params)) throw refused('Params is required')
  const address = addressOf(json)
  if (!/^https?:\/\//.test(address)) throw refused('Input.Offline.FileURL is invalid')
  checkKind(json)
  const parameters = json.Params
  if (typeof parameters.AllActivate !== 'boolean') throw refused('AllActivate is required')
  const language = languageOf(parameters.SourceLang, 'SourceLang')
  const types = typesOf(parameters, 'InformationExtraction', ['todo_list', 'question_answer'])
  const summary = typesOf(parameters, 'Summarization', ['summary']).length > 0
  const request: MinutesRequest = {
    address,
    language,
    summary,
    ...transcription(parameters),
    chapters: parameters.ChapterEnabled === true,
    todos: types.includes('todo_list'),
    questions: types.includes('question_answer'),
    target: targetOf(parameters),
  }
  const { chapters, todos, questions, target } = request
  if (!summary && !chapters && !todos && !questions && target === undefined) {
    throw refused('at least one additional feature must be enabled')
  }
  return request
}

function checkKind(json: Json): void {
  const input = isObject(json.Input) ? json.Input.Offline : undefined
  const kind = isObject(input) ? input.FileType : undefined
  if (kind !== 'audio' && kind !== 'video') throw refused('Input.Offline.FileType is invalid')
}

function transcription(parameters: Json): Pick<MinutesRequest, 'speakers' | 'identify' | 'words'> {
  const { AudioTranscriptionEnable: enabled, AudioTranscriptionParams: how } = parameters
  if (enabled !== true) throw refused('AudioTranscriptionEnable must be true')
  if (!isObject(how)) throw refused('AudioTranscriptionParams is required')
  const { SpeakerIdentification: identify, NumberOfSpeaker: speakers } = how
  const { NeedWordTimeSeries: words, HotWords: hot } = how
  if (typeof identify !== 'boolean') throw refused('SpeakerIdentification is required')
  if (!isInteger(speakers, 0, 100)) throw refused('NumberOfSpeaker is invalid')
  if (typeof words !== 'boolean') throw refused('NeedWordTimeSeries is required')
  if (hot !== undefined && !isWordList(hot)) throw refused('HotWords is not a JSON list of words')
  return { identify, words, speakers: Number(speakers) || SPEAKERS_FOUND }
}

function isWordList(hot: unknown): boolean {
  try {
    const list: unknown = JSON.parse(text(hot))
    return Array.isArray(list) && list.every((one) => isObject(one) && text(one.word) !== '')
  } catch {
    return false
  }
}

/** Returns the types of an enabled feature, which needs at least one. */
function typesOf(parameters: Json, name: string, known: string[]): string[] {
  if (parameters[`${name}Enabled`] !== true) return []
  const how = parameters[`${name}Params`]
  const types = isObject(how) && Array.isArray(how.Types) ? how.Types.map(text) : []
  if (types.length > 0 && types.every((type) => known.includes(type))) return types
  throw refused(`${name}Params.Types is invalid`)
}

function targetOf(parameters: Json): string | undefined {
  if (parameters.TranslationEnable !== true) return undefined
  const how = parameters.TranslationParams
  return languageOf(isObject(how) ? how.TargetLang : undefined, 'TargetLang')
}

function languageOf(value: unknown, name: string): 'zh_cn' | 'en_us' {
  if (value === 'zh_cn' || value === 'en_us') return value
  throw refused(`${name} is invalid`)
}
