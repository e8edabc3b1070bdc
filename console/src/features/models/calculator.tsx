/** Calculates what a call would cost, from the model's prices and the quantities entered. */
import { NumberInput, Select, Stack, Table, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { SideScroll } from '../../components/page/side-scroll.tsx'
import { usePriceWords } from '../../components/prices/price-words.ts'
import { MoneyText } from '../../components/text/money-text.tsx'
import { columnPlaces } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { addUp, chargeOf } from '../../lib/nanos.ts'
import { messages } from './messages.ts'

interface Price {
  readonly unit: string
  readonly per: number
  readonly amount: string
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

interface CalculatorProps {
  readonly currency: string
  readonly prices: readonly Price[]
}

/** Quantities of a usual call; of every other unit none. */
const USUAL: Readonly<Record<string, number>> = {
  input_token: 1_000,
  output_token: 500,
  character: 500,
  call: 1,
  second: 10,
  image: 1,
  task: 1,
}
const MANY = 1_000
const QUANTITY_MAX = 1_000_000_000

export function Calculator({ currency, prices }: CalculatorProps) {
  const t = useMessages(messages)
  const byUnit = Map.groupBy(prices, ({ unit }) => unit)
  const [quantities, setQuantities] = useState(USUAL)
  const [chosen, setChosen] = useState<Readonly<Record<string, number>>>({})
  const lines = [...byUnit].map(([unit, choices]) => {
    const base = Math.max(
      0,
      choices.findIndex(({ when }) => when === undefined),
    )
    const index = chosen[unit] ?? base
    const { amount = '0', per = 1 } = choices[index] ?? {}
    const quantity = quantities[unit] ?? 0
    return { unit, choices, index, quantity, cost: chargeOf(amount, per, quantity) }
  })
  const total = addUp(lines.map(({ cost }) => cost))
  const many = chargeOf(total, 1, MANY)
  const places = columnPlaces([total, many, ...lines.map(({ cost }) => cost)])
  const money = (amount: string) => (
    <MoneyText amount={amount} currency={currency} places={places} />
  )
  return (
    <section>
      <Title order={3} size="h4">
        {t('calculator')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t('calculatorText')}
      </Text>
      <SideScroll label={t('calculator')} minWidth={300}>
        <Table aria-label={t('calculator')}>
          <Table.Tbody>
            {lines.map((line) => (
              <Line
                key={line.unit}
                line={line}
                cost={money(line.cost)}
                onQuantity={(value) => setQuantities({ ...quantities, [line.unit]: value })}
                onChoose={(at) => setChosen({ ...chosen, [line.unit]: at })}
              />
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            <Table.Tr>
              <Table.Th>{t('oneCall')}</Table.Th>
              <Table.Th ta="right">{money(total)}</Table.Th>
            </Table.Tr>
            <Table.Tr>
              <Table.Th>{t('thousandCalls')}</Table.Th>
              <Table.Th ta="right">{money(many)}</Table.Th>
            </Table.Tr>
          </Table.Tfoot>
        </Table>
      </SideScroll>
    </section>
  )
}

interface LineProps {
  readonly line: {
    readonly unit: string
    readonly choices: readonly Price[]
    readonly index: number
    readonly quantity: number
  }
  readonly cost: ReactNode
  readonly onQuantity: (quantity: number) => void
  readonly onChoose: (index: number) => void
}

/** One unit: its quantity, and which of its prices applies. */
function Line({ line, cost, onQuantity, onChoose }: LineProps) {
  const t = useMessages(messages)
  const words = usePriceWords()
  const { unit, choices, index, quantity } = line
  const nameOf = ({ when }: Price) => (when === undefined ? t('basePrice') : words.when(when))
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={4}>
          <NumberInput
            size="xs"
            label={words.units(unit)}
            value={quantity}
            min={0}
            max={QUANTITY_MAX}
            allowDecimal={false}
            thousandSeparator
            onChange={(value) => onQuantity(Number(value) || 0)}
          />
          {choices.length > 1 ? (
            <Select
              size="xs"
              aria-label={t('priceOf', { unit: words.units(unit) })}
              allowDeselect={false}
              data={choices.map((one, at) => ({ value: String(at), label: nameOf(one) }))}
              value={String(index)}
              onChange={(at) => onChoose(Number(at))}
            />
          ) : null}
        </Stack>
      </Table.Td>
      <Table.Td ta="right">{cost}</Table.Td>
    </Table.Tr>
  )
}
