/** Names the types of models: one set of names for customers and operators. */
import { MODEL_TYPE_ROWS, type ModelType } from '../../../../server/money/catalog/model-types.ts'
import { useLanguage } from '../../lib/i18n.tsx'
import { nameIn } from '../../lib/texts.ts'

const isKnown = (type: string): type is ModelType => Object.hasOwn(MODEL_TYPE_ROWS, type)

/** Returns a function that names a type; one that the console does not know keeps its own word. */
export function useModelTypeName(): (type: string) => string {
  const { language } = useLanguage()
  return (type) => (isKnown(type) ? nameIn(language, MODEL_TYPE_ROWS[type].names) : type)
}
