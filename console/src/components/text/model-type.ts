/** Names the types of models: one set of names for customers and operators. */
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './model-type-messages.ts'

type Type = keyof (typeof messages)['en']

const isKnown = (type: string): type is Type => Object.hasOwn(messages.en, type)

/** Returns a function that names a type; one that the console does not know keeps its own word. */
export function useModelTypeName(): (type: string) => string {
  const t = useMessages(messages)
  return (type) => (isKnown(type) ? t(type) : type)
}
