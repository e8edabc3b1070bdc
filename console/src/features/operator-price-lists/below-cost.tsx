/** Warnings about prices below cost, of what was saved just now. */
import { Notice } from '../../components/state/notice.tsx'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

export function BelowCost({ warnings }: { readonly warnings: readonly string[] }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  return warnings.map((warning) => (
    <Notice key={warning} tone="warning" title={t('warned')}>
      {textOf(warning)}
    </Notice>
  ))
}
