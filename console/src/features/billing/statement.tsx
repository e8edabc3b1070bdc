/** A month's statement: charges by day and by model, credits apart, to print or save as PDF. */
import { Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, useMemo, useState } from 'react'
import { Dialog } from '../../components/form/dialog.tsx'
import { type Column, RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatNumber, localeOf, SUM_PLACES } from '../../lib/format.ts'
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
  const { currency, opening, charged, credited, closing } = statement
  const money = (amount: string) => (
    <MoneyText amount={amount} currency={currency} places={SUM_PLACES} />
  )
  return (
    <>
      <Panel title={t('statement', { period: title })} aside={account.name}>
        <KeyValue
          areFigures
          facts={[
            { label: t('opening'), value: money(opening) },
            { label: t('credited'), value: money(credited) },
            { label: t('chargedSum'), value: money(minus(charged)) },
            { label: t('closing'), value: <b>{money(closing)}</b> },
          ]}
        />
      </Panel>
      <Days statement={statement} money={money} />
      <Credits credits={statement.credits} money={money} currency={currency} />
      <Models statement={statement} money={money} />
    </>
  )
}

const minus = (amount: string) => (/^0(?:\.0*)?$/.test(amount) ? amount : `-${amount}`)

interface PartProps {
  readonly statement: StatementAnswer
  readonly money: (amount: string) => ReactNode
}

const RIGHT = { align: 'right' } as const

function Days({ statement, money }: PartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const day = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium' })
  const columns: readonly Column<StatementAnswer['days'][number]>[] = [
    { key: 'day', header: t('day'), isTime: true, render: ({ at }) => day.format(new Date(at)) },
    {
      key: 'calls',
      header: t('calls'),
      ...RIGHT,
      render: ({ calls }) => formatNumber(calls, language),
    },
    {
      key: 'charge',
      header: t('charge'),
      ...RIGHT,
      render: ({ charged }) => money(minus(charged)),
    },
    {
      key: 'credits',
      header: t('credits'),
      ...RIGHT,
      render: ({ credited }) => money(credited),
    },
    {
      key: 'balance',
      header: t('balance'),
      ...RIGHT,
      render: ({ balance_after: after }) => money(after),
    },
  ]
  return (
    <Panel title={t('byDay')} flush>
      <RowTable label={t('byDay')} rows={statement.days} columns={columns} rowId={({ at }) => at} />
      {statement.days.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {t('emptyMonth')}
        </Text>
      ) : null}
    </Panel>
  )
}

interface CreditsProps extends Pick<PartProps, 'money'> {
  readonly credits: readonly Credit[]
  readonly currency: string
}

function Credits({ credits, money, currency }: CreditsProps) {
  const t = useMessages(messages)
  const [open, setOpen] = useState<Credit>()
  if (credits.length === 0) return null
  const columns: readonly Column<Credit>[] = [
    {
      key: 'at',
      header: t('at'),
      isTime: true,
      render: (credit) => <TimeText time={credit.created_at} />,
    },
    { key: 'kind', header: t('kind'), render: ({ kind }) => t(kind) },
    { key: 'about', header: t('about'), render: ({ reason }) => reason },
    { key: 'amount', header: t('amount'), ...RIGHT, render: ({ amount }) => money(amount) },
    {
      key: 'receipt',
      header: '',
      ...RIGHT,
      noPrint: true,
      render: (credit) => (
        <Button variant="subtle" size="compact-xs" onClick={() => setOpen(credit)}>
          {t('receipt')}
        </Button>
      ),
    },
  ]
  return (
    <Panel title={t('credits')} flush>
      <RowTable label={t('credits')} rows={credits} columns={columns} rowId={({ id }) => id} />
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

function Models({ statement, money }: PartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { models } = statement
  if (models.length === 0) return null
  const columns: readonly Column<StatementAnswer['models'][number]>[] = [
    { key: 'model', header: t('model'), render: ({ model }) => model },
    {
      key: 'calls',
      header: t('calls'),
      ...RIGHT,
      render: ({ calls }) => formatNumber(calls, language),
    },
    {
      key: 'charge',
      header: t('charge'),
      ...RIGHT,
      render: ({ charged }) => money(charged),
    },
  ]
  return (
    <Panel title={t('byModel')} flush>
      <RowTable label={t('byModel')} rows={models} columns={columns} rowId={({ model }) => model} />
    </Panel>
  )
}
