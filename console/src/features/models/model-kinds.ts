/** Names for the types of models. */
import { useMessages } from '../../lib/i18n.tsx'
import type { ShownModelType } from '../../lib/model-types.ts'
import { messages } from './messages.ts'

export function useKindName(): (kind: ShownModelType) => string {
  const t = useMessages(messages)
  return (kind) => t(kind === 'search' ? 'kind_search' : kind)
}
