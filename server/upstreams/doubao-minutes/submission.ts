/** Encodes a minutes submission (docs/protocols/volcengine-minutes.md#submission). */
import { readHotWords } from '../../dialects/minutes/hot-words.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { UpstreamFailure } from '../failure.ts'

const ABILITIES = ['summary', 'chapters', 'todos', 'questions', 'translate']

/** The product refuses a transcription without anything more: that is said before it is asked. */
export function requireAbility({ all_activate: all, features }: JsonObject): void {
  const isOn = isObject(features) && ABILITIES.some((name) => features[name] === true)
  if (all === true || isOn) return
  throw new UpstreamFailure('rejected', {
    param: 'features',
    message: `features: turn on at least one of ${ABILITIES.join(', ')}, or set all_activate`,
  })
}

export function encodeSubmission(parameters: JsonObject): JsonObject {
  const all = parameters.all_activate === true
  const features = isObject(parameters.features) ? parameters.features : {}
  // The vendor's flag is one of billing: each ability must be named beside it.
  const isOn = (name: string) => all || features[name] === true
  const types = [
    ...(isOn('todos') ? ['todo_list'] : []),
    ...(isOn('questions') ? ['question_answer'] : []),
  ]
  return {
    Input: { Offline: { FileURL: parameters.file_url, FileType: parameters.file_type } },
    Params: {
      AllActivate: all,
      SourceLang: parameters.source_lang,
      AudioTranscriptionEnable: true,
      AudioTranscriptionParams: encodeTranscription(parameters),
      ...(isOn('summary')
        ? { SummarizationEnabled: true, SummarizationParams: { Types: ['summary'] } }
        : {}),
      ...(isOn('chapters') ? { ChapterEnabled: true } : {}),
      ...(types.length > 0
        ? { InformationExtractionEnabled: true, InformationExtractionParams: { Types: types } }
        : {}),
      ...(isOn('translate')
        ? {
            TranslationEnable: true,
            TranslationParams: { TargetLang: targetOf(features, parameters.source_lang) },
          }
        : {}),
    },
  }
}

function encodeTranscription(parameters: JsonObject): JsonObject {
  const words = readHotWords(parameters.hot_words)
  return {
    SpeakerIdentification: parameters.speaker_identification,
    NumberOfSpeaker: parameters.number_of_speakers,
    NeedWordTimeSeries: parameters.need_word_time_series,
    ...(words ? { HotWords: JSON.stringify(words) } : {}),
  }
}

/** The other one of the two languages, unless the caller says which. */
function targetOf(features: JsonObject, source: unknown): unknown {
  return features.target_lang ?? (source === 'zh_cn' ? 'en_us' : 'zh_cn')
}
