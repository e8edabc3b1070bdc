/** Types of models in words, where the catalog has a single word of its own. */
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './model-type-messages.ts'

type Type = keyof (typeof messages)['en']

const isKnown = (type: string): type is Type => Object.hasOwn(messages.en, type)

export function useModelTypeName(): (type: string) => string {
  const t = useMessages(messages)
  return (type) => (isKnown(type) ? t(type) : type)
}
