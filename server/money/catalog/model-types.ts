/**
 * The types of models, in display order: one row has all that the gateway and the console know of a
 * type.
 */
import { INPUT_UNITS, TOKEN_UNITS, TOOL_FEE_UNITS, type Unit } from '../../base/lib/units.ts'

interface ModelTypeRow {
  /** Its name in the console, in English and Chinese. */
  readonly names: readonly [en: string, zh: string]
  /** The units in which models of this type may be sold. */
  readonly units: readonly Unit[]
}

/** Units that a vendor bills beside the tokens of a text model. */
const TOOL_UNITS = [...TOOL_FEE_UNITS, 'vendor_cost'] as const

export const MODEL_TYPE_ROWS = {
  chat: { names: ['Chat', '对话'], units: [...TOKEN_UNITS, ...TOOL_UNITS, 'second', 'call'] },
  embedding: { names: ['Embedding', '向量'], units: [...INPUT_UNITS, 'vendor_cost', 'call'] },
  moderation: { names: ['Moderation', '内容审核'], units: [...INPUT_UNITS, 'vendor_cost', 'call'] },
  speech: {
    names: ['Speech', '语音合成'],
    units: ['character', ...TOKEN_UNITS, 'vendor_cost', 'second', 'call'],
  },
  rerank: {
    names: ['Rerank', '重排序'],
    units: ['search_unit', ...INPUT_UNITS, 'vendor_cost', 'call'],
  },
  search: { names: ['Search', '搜索'], units: ['call'] },
  minutes: {
    names: ['Minutes', '纪要'],
    units: ['second', ...INPUT_UNITS, 'output_token', 'call', 'task'],
  },
  video: {
    names: ['Video', '视频'],
    units: ['second', ...TOKEN_UNITS, 'image', 'web_search_call', 'vendor_cost', 'call', 'task'],
  },
  erase: { names: ['Subtitle erasure', '字幕擦除'], units: ['second', 'call', 'task'] },
  image: {
    names: ['Image', '图片'],
    units: ['image', ...TOKEN_UNITS, ...TOOL_UNITS, 'call', 'task'],
  },
  ast: { names: ['Interpretation', '同声传译'], units: ['second', ...TOKEN_UNITS, 'call'] },
  transcription: {
    names: ['Transcription', '语音识别'],
    units: ['second', ...INPUT_UNITS, 'output_token', 'vendor_cost', 'call'],
  },
} as const satisfies Readonly<Record<string, ModelTypeRow>>

export type ModelType = keyof typeof MODEL_TYPE_ROWS

export const MODEL_TYPES = Object.keys(MODEL_TYPE_ROWS) as [ModelType, ...ModelType[]]

/** Returns the units in which models of a type may be sold. */
export function unitsOfType(type: ModelType): readonly Unit[] {
  return MODEL_TYPE_ROWS[type].units
}
