/** What the operator allows the account: told here, changed among the operator pages. */
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { Row } from './row.tsx'

const KNOWN = ['requests_per_minute', 'concurrent_calls'] as const

export function Limits({ limits }: { readonly limits: Readonly<Record<string, number>> }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return KNOWN.map((name) => {
    const limit = limits[name]
    const text = limit === undefined ? t('noLimit') : formatNumber(limit, language)
    return <Row key={name} title={t(name)} text={text} />
  })
}
