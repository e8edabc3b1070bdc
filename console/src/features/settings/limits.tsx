/** Limits set by the operator: shown here, changed on the operator pages. */
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'

const KNOWN = ['requests_per_minute', 'tokens_per_minute', 'concurrent_calls'] as const

export function LimitsTable({ limits }: { readonly limits: Readonly<Record<string, number>> }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return KNOWN.map((name) => {
    const limit = limits[name]
    const text = limit === undefined ? t('noLimit') : formatNumber(limit, language)
    return <SettingRow key={name} title={t(name)} text={text} />
  })
}
