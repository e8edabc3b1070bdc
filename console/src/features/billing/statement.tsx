/** A month's statement: charges by day and by model, credits apart, to print or save as PDF. */
import { Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Dialog } from '../../components/form/dialog.tsx'
import { FieldFacts, type RowFields, useColumns } from '../../components/list/fields.tsx'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { localeOf, SUM_PLACES } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { Language } from '../../lib/language.ts'
import { placesToAddUp } from '../../lib/nanos.ts'
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
    { live: ['balance', 'usage'] },
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
      {data ? <Shown statement={data} title={name.format(from)} /> : null}
      {data || error ? null : <Skeleton height={240} aria-busy />}
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
  const places = placesToAddUp(closing, [opening, credited], [charged])
  const money = (amount: string) => (
    <MoneyText amount={amount} currency={currency} places={places} />
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
      <Days statement={statement} />
      <Credits statement={statement} />
      <Models statement={statement} />
    </>
  )
}

const minus = (amount: string) => (/^0(?:\.0*)?$/.test(amount) ? amount : `-${amount}`)

interface PartProps {
  readonly statement: StatementAnswer
}

const DAY_FIELDS: RowFields<StatementAnswer['days'][number], (typeof messages)['en']> = [
  { word: 'day', isTime: true, show: ({ at }, { language }) => formatDay(at, language) },
  { key: 'calls', as: 'count' },
  { word: 'charge', align: 'right', show: (day, wording) => <Charge {...day} {...wording} /> },
  { key: 'credited', word: 'credits', as: 'money', places: SUM_PLACES },
  { key: 'balance_after', word: 'balance', as: 'money', places: SUM_PLACES },
]

function formatDay(at: string, language: Language): string {
  return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium' }).format(new Date(at))
}

interface ChargeProps {
  readonly charged: string
  readonly currency: string
}

function Charge({ charged, currency }: ChargeProps) {
  return <MoneyText amount={minus(charged)} currency={currency} places={SUM_PLACES} />
}

function Days({ statement }: PartProps) {
  const t = useMessages(messages)
  const columns = useColumns(messages, DAY_FIELDS, statement.currency)
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

const CREDIT_FIELDS: RowFields<Credit, (typeof messages)['en']> = [
  { key: 'id', word: 'receiptNumber', in: 'details' },
  { word: 'account', in: 'details', show: () => <OwnAccount /> },
  { key: 'created_at', word: 'at', as: 'time' },
  { word: 'kind', show: ({ kind }, { t }) => t(kind) },
  { word: 'about', show: ({ reason }, { textOf }) => reason && textOf(reason) },
  { key: 'amount', as: 'money', places: SUM_PLACES },
]

function OwnAccount() {
  const { id, name } = useAccount()
  return `${name} · ${id}`
}

function Credits({ statement: { credits, currency } }: PartProps) {
  const t = useMessages(messages)
  const [open, setOpen] = useState<Credit>()
  const receipt: RowFields<Credit, (typeof messages)['en']> = [
    {
      in: 'list',
      align: 'right',
      noPrint: true,
      show: (credit) => (
        <Button variant="subtle" size="compact-xs" onClick={() => setOpen(credit)}>
          {t('receipt')}
        </Button>
      ),
    },
  ]
  const columns = useColumns(messages, [...CREDIT_FIELDS, ...receipt], currency)
  if (credits.length === 0) return null
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
  return (
    <Stack gap="md">
      <FieldFacts messages={messages} fields={CREDIT_FIELDS} row={credit} currency={currency} />
      <Group justify="flex-end" data-no-print>
        <Button variant="default" onClick={() => print()}>
          {t('print')}
        </Button>
      </Group>
    </Stack>
  )
}

const MODEL_FIELDS: RowFields<StatementAnswer['models'][number], (typeof messages)['en']> = [
  { key: 'model' },
  { key: 'calls', as: 'count' },
  { key: 'charged', word: 'charge', as: 'money', places: SUM_PLACES },
]

function Models({ statement: { models, currency } }: PartProps) {
  const t = useMessages(messages)
  const columns = useColumns(messages, MODEL_FIELDS, currency)
  if (models.length === 0) return null
  return (
    <Panel title={t('byModel')} flush>
      <RowTable label={t('byModel')} rows={models} columns={columns} rowId={({ model }) => model} />
    </Panel>
  )
}
