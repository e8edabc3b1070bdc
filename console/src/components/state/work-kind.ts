/** Names the kinds of tasks and of their webhooks: those of a type of models by its name. */
import { TASK_KINDS } from '../../../../server/base/lib/kinds-and-states.ts'
import { defineMessages, useLanguage } from '../../lib/i18n.tsx'
import { useModelTypeName } from '../text/model-type.ts'

const messages = defineMessages(
  { response: 'Response', test: 'Test' },
  { response: '响应', test: '测试' },
)

function isKnown(kind: string): kind is keyof (typeof messages)['en'] {
  return Object.hasOwn(messages.en, kind)
}

export function useWorkKind(): (kind: string) => string {
  const { language } = useLanguage()
  const typeName = useModelTypeName()
  return (kind) => (isKnown(kind) ? messages[language][kind] : typeName(kind))
}

/** Returns the options of a filter by the kind of task. */
export function useTaskKindOptions() {
  const kindName = useWorkKind()
  return TASK_KINDS.map((value) => ({ value, label: kindName(value) }))
}
