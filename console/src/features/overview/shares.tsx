/** Spend by model and by key. */
import { type Share, ShareList } from '../../components/charts/share-list.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { CHARGE_PLACES, formatMoney, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { Summary } from './answers.ts'
import { messages } from './messages.ts'

export function Shares({ summary }: { readonly summary: Summary }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { currency, models, keys, from, to } = summary
  const share = (row: { charged: string; calls: number }) => ({
    value: Number(row.charged),
    text: formatMoney(row.charged, { currency, language, places: CHARGE_PLACES }),
    note:
      row.calls === 1 ? t('oneCall') : t('callCount', { count: formatNumber(row.calls, language) }),
    to: '/usage',
  })
  const byModel: Share[] = models.map((row) => ({
    ...share(row),
    id: row.model,
    label: row.model,
    search: { from, to, model: row.model },
  }))
  const byKey: Share[] = keys.map((row) => ({
    ...share(row),
    id: row.key_id,
    label: row.name || row.display || t('other'),
    search: { from, to, key: row.key_id },
  }))
  return (
    <>
      <Panel title={t('byModel')}>
        <ShareList shares={byModel} />
      </Panel>
      <Panel title={t('byKey')}>
        <ShareList shares={byKey} />
      </Panel>
    </>
  )
}
