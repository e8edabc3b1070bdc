/** The ledger entries of one call: held, then charged and returned. */
import { Table } from '@mantine/core'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { columnPlaces, zoneName } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { ExplainedCall } from './explained-call.ts'
import { messages } from './messages.ts'
import { Section } from './section.tsx'

const STEPS = [
  'hold',
  'charge',
  'return',
  'overrun',
  'debt',
  'correction',
  'correction_debt',
  'correction_return',
] as const
type Step = (typeof STEPS)[number]
const isStep = (text: string): text is Step => STEPS.some((one) => one === text)

export function LedgerEntries({ call }: { readonly call: ExplainedCall }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const place = (name: string) => {
    if (name === 'available') return t('available')
    if (name === 'held') return t('heldAccount')
    return name === 'revenue' ? t('revenue') : name
  }
  if (call.ledger.length === 0) return null
  const places = columnPlaces(call.ledger.map(({ amount }) => amount))
  return (
    <Section title={t('ledger')}>
      <Table aria-label={t('ledger')} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('step')}</Table.Th>
            <Table.Th>{t('fromTo')}</Table.Th>
            <Table.Th>
              {t('at')} {zoneName(language)}
            </Table.Th>
            <Table.Th ta="right">{t('amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {call.ledger.map(({ step, from, to, amount, at }) => (
            <Table.Tr key={step}>
              <Table.Td>{isStep(step) ? t(`step_${step}`) : step}</Table.Td>
              <Table.Td>
                {place(from)} → {place(to)}
              </Table.Td>
              <Table.Td>
                <TimeText time={at} />
              </Table.Td>
              <Table.Td ta="right">
                <MoneyText amount={amount} currency={call.currency} places={places} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}
