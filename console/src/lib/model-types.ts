/** The types of models, in display order. */
export const MODEL_TYPE_ORDER = [
  'chat',
  'embedding',
  'moderation',
  'speech',
  'search',
  'minutes',
  'video',
  'erase',
  'image',
  'ast',
  'transcription',
] as const

export type ShownModelType = (typeof MODEL_TYPE_ORDER)[number]
