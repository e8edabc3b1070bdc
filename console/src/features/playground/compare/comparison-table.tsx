/** Charge, times and tokens of each model, beside each other. */
import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { TextLink } from '../../../components/links.tsx'
import { SideScroll } from '../../../components/page/side-scroll.tsx'
import { MoneyText } from '../../../components/text/money-text.tsx'
import { formatDuration, formatNumber } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { useAccount } from '../../../lib/session.tsx'
import { useAdmin } from '../../../lib/use-admin.ts'
import type { Reply } from '../chat/values.ts'
import type { PlaygroundCall } from '../frame/call/use-call.ts'
import { findBest, readFigures } from './comparison.ts'
import { messages } from './messages.ts'

const USAGE = 'GET /accounts/:account_id/usage/:request_id'
const POLL_INTERVAL_MS = 1_500

interface Compared {
  readonly id: string
  readonly call: PlaygroundCall<Reply> | undefined
}

export function ComparisonTable({ compared }: { readonly compared: readonly Compared[] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const figures = compared.map(({ call }) => readFigures(call))
  const ids = compared.map(({ id }) => id)
  const duration = (value: number) => formatDuration(value, language)
  const count = (value: number) => formatNumber(Math.round(value), language)
  const countOr = (value: number | undefined) => (value === undefined ? '–' : count(value))
  const firsts = figures.map(({ firstMs }) => firstMs)
  const totals = figures.map(({ totalMs }) => totalMs)
  const rates = figures.map(({ rate }) => rate)
  return (
    <SideScroll label={t('comparison')}>
      <Table aria-label={t('comparison')} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {ids.map((id) => (
              <Table.Th key={id} ta="right">
                {id}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          <Row label={t('charge')}>
            {compared.map(({ id, call }) => (
              <Table.Td key={id} ta="right">
                {call?.phase !== 'running' && call?.requestId ? (
                  <Charge key={call.requestId} requestId={call.requestId} />
                ) : (
                  '–'
                )}
              </Table.Td>
            ))}
          </Row>
          <FigureRow label={t('first')} ids={ids} values={firsts} show={duration} best="lowest" />
          <FigureRow label={t('total')} ids={ids} values={totals} show={duration} best="lowest" />
          <FigureRow label={t('rate')} ids={ids} values={rates} show={count} best="highest" />
          <Row label={t('tokens')}>
            {figures.map(({ input, output }, index) => (
              <Table.Td key={ids[index]} ta="right">
                {countOr(input)} / {countOr(output)}
              </Table.Td>
            ))}
          </Row>
        </Table.Tbody>
      </Table>
    </SideScroll>
  )
}

function Row({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row">{label}</Table.Th>
      {children}
    </Table.Tr>
  )
}

interface FigureRowProps {
  readonly label: string
  readonly ids: readonly string[]
  readonly values: readonly (number | undefined)[]
  readonly show: (value: number) => string
  readonly best: 'lowest' | 'highest'
}

/** The best value is marked with a word, not with weight alone. */
function FigureRow({ label, ids, values, show, best }: FigureRowProps) {
  const t = useMessages(messages)
  const winner = findBest(values, best)
  return (
    <Row label={label}>
      {values.map((value, index) => (
        <Table.Td key={ids[index]} ta="right" fw={winner === index ? 600 : 400}>
          {value === undefined ? '–' : show(value)}
          {winner === index ? (
            <Text component="span" size="xs" c="dimmed">
              {' '}
              {t('best')}
            </Text>
          ) : null}
        </Table.Td>
      ))}
    </Row>
  )
}

/** The settled charge of a call, with a link that explains it. */
function Charge({ requestId }: { readonly requestId: string }) {
  const t = useMessages(messages)
  const account = useAccount()
  const { data, error } = useAdmin(
    USAGE,
    { params: { account_id: account.id, request_id: requestId } },
    {
      live: ['usage'],
      refetchWhile: { everyMs: POLL_INTERVAL_MS, holds: ({ status }) => status === 'running' },
    },
  )
  // A call refused before its hold has no record.
  if (error) return t('refused')
  if (!data || data.status === 'running') return t('settling')
  return (
    <TextLink to="/usage" search={{ id: requestId }} inherit>
      <MoneyText amount={data.charged ?? '0'} currency={data.currency} places="exact" />
    </TextLink>
  )
}
