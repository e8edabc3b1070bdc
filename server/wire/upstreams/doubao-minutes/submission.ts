/** Encodes a minutes submission (docs/protocols/volcengine-minutes.md#submission). */

import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { readHotWords } from '../../dialects/minutes/hot-words.ts'
import { UpstreamFailure } from '../failure.ts'

const ABILITIES = ['summary', 'chapters', 'todos', 'questions', 'translate']

/** Refuses a transcription without a further ability, as the product itself would. */
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
  // AllActivate selects a billing package only: each ability is turned on beside it.
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

/** Returns the caller's target language, else the other one of the two. */
function targetOf(features: JsonObject, source: unknown): unknown {
  return features.target_lang ?? (source === 'zh_cn' ? 'en_us' : 'zh_cn')
}
