// Checks the start of a session: languages, mode and audio formats.
import type { ClientMessage } from './messages.ts'

const EIGHT = ['zh', 'en', 'de', 'fr', 'es', 'id', 'ja', 'pt']
const TWENTY = [...EIGHT, 'ko', 'tr', 'ms', 'nl', 'ro', 'pl', 'cs', 'ar', 'th', 'vi', 'ru', 'it']
const DIALECTS = ['yue-CN', 'sh-CN']
const PIVOTS = ['zh', 'en']
const BOTH_WAYS = 'zhen'
const SPEAKERS = ['zh_female_vv_uranus_bigtts', 'zh_male_jingqiangkanye_emo_mars_bigtts']

export interface Refusal {
  code: number
  message: string
}

const INVALID = 45000001
const WRONG_AUDIO = 45000151

/** Returns undefined if the session may start. */
export function checkStart(start: ClientMessage): Refusal | undefined {
  const invalid = (message: string) => ({ code: INVALID, message })
  if (start.sessionId === '') return invalid('request_meta.SessionID is required')
  const { format, codec, rate, bits, channel } = start.source
  if (format !== 'wav') return { code: WRONG_AUDIO, message: 'source_audio.format must be wav' }
  if ((codec !== '' && codec !== 'raw') || rate !== 16000 || bits !== 16 || channel !== 1) {
    return { code: WRONG_AUDIO, message: 'source_audio must be raw, 16000 Hz, 16 bits, 1 channel' }
  }
  if (start.mode !== 's2t' && start.mode !== 's2s') return invalid('request.mode is invalid')
  if (start.mode === 's2s' && !targetIsKnown(start)) {
    return { code: WRONG_AUDIO, message: 'target_audio is invalid' }
  }
  if (start.speechRate < -50 || start.speechRate > 100) return invalid('speech_rate is invalid')
  return checkLanguages(start)
}

const targetIsKnown = ({ target }: ClientMessage): boolean =>
  target.format === 'ogg_opus' ||
  (target.format === 'pcm' && [0, 16000, 24000].includes(target.rate))

function checkLanguages(start: ClientMessage): Refusal | undefined {
  const { mode, speaker, sourceLanguage: from, targetLanguage: to } = start
  if (from === BOTH_WAYS && to === BOTH_WAYS) return undefined
  const clones = mode === 's2s' && !SPEAKERS.includes(speaker)
  const sources = clones ? EIGHT : [...TWENTY, ...DIALECTS]
  const targets = mode === 's2t' ? TWENTY : clones ? EIGHT : PIVOTS
  const bad = (name: string) => ({ code: INVALID, message: `request.${name} is not supported` })
  if (!sources.includes(from)) return bad('source_language')
  if (!targets.includes(to)) return bad('target_language')
  if (PIVOTS.includes(from) || PIVOTS.includes(to)) return undefined
  return { code: INVALID, message: 'one of the languages must be zh or en' }
}
