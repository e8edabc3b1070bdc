/** Notices that need attention, each with a link to the page that resolves it. */
import { ButtonLink } from '../../components/links.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { formatMoney, formatNumber, isZero } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { AccountOverview } from './answers.ts'
import { messages } from './messages.ts'

export function Notices({ overview }: { readonly overview: AccountOverview }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { balance, currency, low_balance: low, deliveries } = overview
  const hasDebt = !isZero(balance.debt)
  const debt = formatMoney(balance.debt, { currency, language })
  const toBilling = (
    <ButtonLink to="/billing" variant="default" size="compact-sm">
      {t('toBilling')}
    </ButtonLink>
  )
  const toDeliveries = (
    <ButtonLink to="/webhooks" search={{ status: 'dropped' }} variant="default" size="compact-sm">
      {t('toDeliveries')}
    </ButtonLink>
  )
  const count = formatNumber(deliveries.dropped, language)
  return (
    <>
      {hasDebt ? (
        <Notice tone="bad" title={t('debtTitle')} action={toBilling}>
          {t('debtText', { debt })}
        </Notice>
      ) : null}
      {low.is_low && !hasDebt ? (
        <Notice tone="warning" title={t('lowTitle')} action={toBilling}>
          {t('lowText')}
        </Notice>
      ) : null}
      {deliveries.dropped > 0 ? (
        <Notice tone="warning" title={t('droppedTitle', { count })} action={toDeliveries} />
      ) : null}
    </>
  )
}
