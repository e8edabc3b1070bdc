/** Limits set by the operator: shown here, changed on the operator pages. */
import { CALL_LIMITS } from '../../../../server/base/lib/kinds-and-states.ts'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'

export function LimitsTable({ limits }: { readonly limits: Readonly<Record<string, number>> }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return CALL_LIMITS.map((name) => {
    const limit = limits[name]
    const text = limit === undefined ? t('noLimit') : formatNumber(limit, language)
    return <SettingRow key={name} title={t(name)} text={text} />
  })
}
