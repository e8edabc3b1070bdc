/** The hold that a request would place, in words and figures, before it is sent. */
import { Stack, Text } from '@mantine/core'
import { ButtonLink } from '../../../../components/links.tsx'
import { Arithmetic } from '../../../../components/prices/arithmetic.tsx'
import { Notice } from '../../../../components/state/notice.tsx'
import { ApiError } from '../../../../lib/api.ts'
import { formatMoney, SUM_PLACES } from '../../../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../../../lib/i18n.tsx'
import { useAccount } from '../../../../lib/session.tsx'
import { useAdmin } from '../../../../lib/use-admin.ts'
import { Disclosure } from '../fields/disclosure.tsx'
import { messages } from '../messages.ts'
import type { PlaygroundRequest } from '../order.ts'
import { useQuote } from './use-quote.ts'

export function CostBefore({ order }: { readonly order: PlaygroundRequest | undefined }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const { data, error, isStale } = useQuote(order)
  if (!order) return <Available />
  if (error instanceof ApiError && error.status !== 0) {
    return <Note>{t('incomplete', { problem: textOf(error.message) })}</Note>
  }
  if (!data) return <Note>{t('asking')}</Note>
  return (
    <div aria-busy={isStale} data-stale={isStale || undefined}>
      <Quote quote={data} />
    </div>
  )
}

type QuoteData = NonNullable<ReturnType<typeof useQuote>['data']>

function Quote({ quote }: { readonly quote: QuoteData }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { currency, free, covered, lines } = quote
  const amount = formatMoney(quote.amount, { currency, language })
  if (free) return <Text size="sm">{t('free')}</Text>
  return (
    <Stack gap={4}>
      <Text size="sm" component="div">
        <b>{t('upTo', { amount })}</b> <Note>{t('upToText')}</Note>
      </Text>
      {lines.length > 0 ? (
        <Disclosure label={t('howComputed')}>
          <Arithmetic
            label={t('howComputed')}
            lines={lines}
            total={quote.amount}
            currency={currency}
          />
        </Disclosure>
      ) : null}
      {covered ? (
        <Available />
      ) : (
        <Notice
          tone="warning"
          title={t('notCovered')}
          action={
            <ButtonLink to="/billing" size="compact-sm" variant="default">
              {t('toBilling')}
            </ButtonLink>
          }
        >
          {t('notCoveredText', { amount })}
        </Notice>
      )}
    </Stack>
  )
}

function Available() {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const account = useAccount()
  const { data } = useAdmin(
    'GET /accounts/:account_id/balance',
    { params: { account_id: account.id } },
    { live: ['balance'] },
  )
  if (!data) return null
  const { available, currency } = data
  const amount = formatMoney(available, { currency, language, places: SUM_PLACES })
  return <Note>{t('available', { amount })}</Note>
}

function Note({ children }: { readonly children: string }) {
  return (
    <Text size="xs" c="dimmed" component="span">
      {children}
    </Text>
  )
}
