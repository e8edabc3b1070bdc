/** A month's statement: charges by day and by model, credits apart, to print or save as PDF. */
import { Button, Group, Select, Skeleton, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import { Dialog } from '../../components/form/dialog.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { SideScroll } from '../../components/page/side-scroll.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { columnPlaces, formatNumber, localeOf, zoneName } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /accounts/:account_id/statement'
type StatementAnswer = AdminAnswer<typeof KEY>
type Credit = StatementAnswer['credits'][number]

const MONTHS = 12

interface StatementProps {
  /** `2026-11`, or '' for the current month. */
  readonly month: string
  readonly onMonth: (month: string) => void
}

export function MonthStatement({ month, onMonth }: StatementProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { id } = useAccount()
  const months = useMemo(() => listMonths(new Date()), [])
  const chosen = months.find(({ value }) => value === month) ?? months[0]
  const { from = new Date(), to = new Date() } = chosen ?? {}
  const query = {
    from: from.toISOString(),
    to: to.toISOString(),
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
  const { data, error, refetch } = useAdmin(
    KEY,
    { params: { account_id: id }, query },
    { live: ['balance', 'usage'], keepPrevious: true },
  )
  const name = new Intl.DateTimeFormat(localeOf(language), { year: 'numeric', month: 'long' })
  return (
    <Stack gap="md">
      <Group justify="space-between" data-no-print>
        <Select
          size="xs"
          aria-label={t('month')}
          allowDeselect={false}
          data={months.map(({ value, from: begin }) => ({ value, label: name.format(begin) }))}
          value={chosen?.value ?? ''}
          onChange={(value) => onMonth(value === months[0]?.value ? '' : (value ?? ''))}
        />
        <Button variant="default" size="compact-sm" onClick={() => print()}>
          {t('print')}
        </Button>
      </Group>
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {data ? <Shown statement={data} title={name.format(from)} /> : <Skeleton height={240} />}
    </Stack>
  )
}

function listMonths(now: Date) {
  return Array.from({ length: MONTHS }, (_, index) => {
    const from = new Date(now.getFullYear(), now.getMonth() - index, 1)
    const to = new Date(now.getFullYear(), now.getMonth() - index + 1, 1)
    const value = `${from.getFullYear()}-${String(from.getMonth() + 1).padStart(2, '0')}`
    return { value, from, to }
  })
}

interface ShownProps {
  readonly statement: StatementAnswer
  readonly title: string
}

function Shown({ statement, title }: ShownProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const { currency, opening, charged, credited, closing, days } = statement
  const places = columnPlaces([
    opening,
    charged,
    credited,
    closing,
    ...days.flatMap((day) => [day.charged, day.credited, day.balance_after]),
  ])
  const money = (amount: string) => (
    <MoneyText amount={amount} currency={currency} places={places} />
  )
  return (
    <>
      <Panel title={t('statement', { period: title })} aside={account.name}>
        <KeyValue
          facts={[
            { label: t('opening'), value: money(opening) },
            { label: t('credited'), value: money(credited) },
            { label: t('chargedSum'), value: money(minus(charged)) },
            { label: t('closing'), value: <b>{money(closing)}</b> },
          ]}
        />
      </Panel>
      <Days statement={statement} money={money} />
      <Credits credits={statement.credits} currency={currency} />
      <Models statement={statement} />
    </>
  )
}

const minus = (amount: string) => (/^0(?:\.0*)?$/.test(amount) ? amount : `-${amount}`)

interface DaysProps {
  readonly statement: StatementAnswer
  readonly money: (amount: string) => ReactNode
}

function Days({ statement, money }: DaysProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const day = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium' })
  return (
    <Panel title={t('byDay')} flush>
      <SideScroll label={t('byDay')} minWidth={480}>
        <Table aria-label={t('byDay')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>
                {t('day')} ({zoneName(language)})
              </Table.Th>
              <Table.Th ta="right">{t('calls')}</Table.Th>
              <Table.Th ta="right">{t('charge')}</Table.Th>
              <Table.Th ta="right">{t('credits')}</Table.Th>
              <Table.Th ta="right">{t('balance')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {statement.days.map(({ at, calls, charged, credited, balance_after: after }) => (
              <Table.Tr key={at}>
                <Table.Td>{day.format(new Date(at))}</Table.Td>
                <Table.Td ta="right">{formatNumber(calls, language)}</Table.Td>
                <Table.Td ta="right">{money(minus(charged))}</Table.Td>
                <Table.Td ta="right">{money(credited)}</Table.Td>
                <Table.Td ta="right">{money(after)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
      {statement.days.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {t('emptyMonth')}
        </Text>
      ) : null}
    </Panel>
  )
}

interface CreditsProps {
  readonly credits: readonly Credit[]
  readonly currency: string
}

function Credits({ credits, currency }: CreditsProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const [open, setOpen] = useState<Credit>()
  if (credits.length === 0) return null
  const places = columnPlaces(credits.map(({ amount }) => amount))
  return (
    <Panel title={t('credits')} flush>
      <SideScroll label={t('credits')} minWidth={420}>
        <Table aria-label={t('credits')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>
                {t('at')} ({zoneName(language)})
              </Table.Th>
              <Table.Th>{t('kind')}</Table.Th>
              <Table.Th>{t('about')}</Table.Th>
              <Table.Th ta="right">{t('amount')}</Table.Th>
              <Table.Th data-no-print>
                <VisuallyHidden>{t('receipt')}</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {credits.map((credit) => (
              <Table.Tr key={credit.id}>
                <Table.Td>
                  <TimeText time={credit.created_at} />
                </Table.Td>
                <Table.Td>{t(credit.kind)}</Table.Td>
                <Table.Td>{credit.reason}</Table.Td>
                <Table.Td ta="right">
                  <MoneyText amount={credit.amount} currency={currency} places={places} />
                </Table.Td>
                <Table.Td ta="right" data-no-print>
                  <Button variant="subtle" size="compact-xs" onClick={() => setOpen(credit)}>
                    {t('receipt')}
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
      <Dialog isOpen={open !== undefined} onClose={() => setOpen(undefined)} title={t('receipt')}>
        {open ? <Receipt credit={open} currency={currency} /> : null}
      </Dialog>
    </Panel>
  )
}

interface ReceiptProps {
  readonly credit: Credit
  readonly currency: string
}

function Receipt({ credit, currency }: ReceiptProps) {
  const t = useMessages(messages)
  const { id, name } = useAccount()
  return (
    <Stack gap="md">
      <KeyValue
        facts={[
          { label: t('receiptNumber'), value: credit.id },
          { label: t('account'), value: `${name} · ${id}` },
          { label: t('at'), value: <TimeText time={credit.created_at} form="full" /> },
          { label: t('kind'), value: t(credit.kind) },
          { label: t('about'), value: credit.reason },
          {
            label: t('amount'),
            value: <MoneyText amount={credit.amount} currency={currency} places="exact" />,
          },
        ]}
      />
      <Group justify="flex-end" data-no-print>
        <Button variant="default" onClick={() => print()}>
          {t('print')}
        </Button>
      </Group>
    </Stack>
  )
}

function Models({ statement }: { readonly statement: StatementAnswer }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { models, currency } = statement
  if (models.length === 0) return null
  const places = columnPlaces(models.map(({ charged }) => charged))
  return (
    <Panel title={t('byModel')} flush>
      <Table aria-label={t('byModel')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('model')}</Table.Th>
            <Table.Th ta="right">{t('calls')}</Table.Th>
            <Table.Th ta="right">{t('charge')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {models.map(({ model, calls, charged }) => (
            <Table.Tr key={model}>
              <Table.Td>{model}</Table.Td>
              <Table.Td ta="right">{formatNumber(calls, language)}</Table.Td>
              <Table.Td ta="right">
                <MoneyText amount={charged} currency={currency} places={places} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Panel>
  )
}
