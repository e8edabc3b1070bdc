/** The types of models, in the order in which lists of them are shown. */
export const MODEL_TYPES = [
  'chat',
  'embedding',
  'speech',
  'search',
  'minutes',
  'video',
  'erase',
  'image',
  'ast',
  'transcription',
] as const

export type ModelType = (typeof MODEL_TYPES)[number]
