/** The kinds of models, in words. */
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

export const MODEL_KINDS = [
  'chat',
  'embedding',
  'speech',
  'search',
  'minutes',
  'video',
  'image',
  'ast',
  'transcription',
] as const

export type ModelKind = (typeof MODEL_KINDS)[number]

export function useKindName(): (kind: ModelKind) => string {
  const t = useMessages(messages)
  return (kind) => t(kind === 'search' ? 'kind_search' : kind)
}
