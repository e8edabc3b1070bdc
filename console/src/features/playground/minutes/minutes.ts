/** Minutes: a recording becomes a transcript with speakers, a summary, chapters and more. */

import type { Capability } from '../frame/capability.ts'
import { dropEmpty, numberOf } from '../frame/order.ts'
import { readTaskId } from '../frame/task/task-progress.tsx'
import { MinutesFields } from './fields.tsx'
import { Protocol } from './protocol.tsx'
import { choosesFeatures, type MinutesValues } from './values.ts'

function featuresOf({ features, target }: MinutesValues) {
  const enabled = Object.fromEntries(features.map((name) => [name, true]))
  return features.includes('translate') ? { ...enabled, target_lang: target } : enabled
}

export const minutes: Capability<MinutesValues, string> = {
  initial: {
    url: '',
    language: 'zh_cn',
    speakers: 0,
    hotWords: '',
    target: 'en_us',
    features: ['summary', 'chapters'],
    identifiesSpeakers: true,
    hasWordTimes: false,
  },
  toOrder: (model, values) => {
    const url = values.url.trim()
    if (url === '') return undefined
    const speakers = numberOf(values.speakers)
    const chooses = choosesFeatures(model)
    return {
      path: '/v1/audio/minutes',
      body: dropEmpty({
        model: model.id,
        file_url: url,
        source_lang: values.language,
        number_of_speakers: speakers || undefined,
        hot_words: values.hotWords,
        need_word_time_series: values.hasWordTimes || undefined,
        speaker_identification: chooses && !values.identifiesSpeakers ? false : undefined,
        features: chooses ? featuresOf(values) : undefined,
      }),
    }
  },
  read: readTaskId,
  Fields: MinutesFields,
  Result: Protocol,
}
