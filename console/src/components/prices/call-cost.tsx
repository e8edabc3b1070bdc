/** The cost of a usual call of a text model, in which a price of the wrong size is noticed. */
import { Text } from '@mantine/core'
import { formatMoney, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { addUp, chargeOf } from '../../lib/nanos.ts'
import { messages } from './call-cost-messages.ts'

const INPUT_TOKENS = 1_000
const OUTPUT_TOKENS = 500

interface CallCostProps {
  readonly currency: string
  readonly prices: readonly {
    readonly unit: string
    readonly per: number
    readonly amount: string
    readonly when?: Readonly<Record<string, unknown>> | undefined
  }[]
  /** False for models that only read: embeddings. */
  readonly hasOutput: boolean
}

/** Nothing until the prices are complete. */
export function CallCost({ currency, prices, hasOutput }: CallCostProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const chargeFor = (unit: string, quantity: number) => {
    const own = prices.filter((price) => price.unit === unit)
    const usual = own.find(({ when }) => when === undefined) ?? own[0]
    return usual && chargeOf(usual.amount, usual.per, quantity)
  }
  const [input, output] = [INPUT_TOKENS, OUTPUT_TOKENS].map((one) => formatNumber(one, language))
  const forInput = chargeFor('input_token', INPUT_TOKENS)
  const forOutput = hasOutput ? chargeFor('output_token', OUTPUT_TOKENS) : '0'
  if (forInput === undefined || forOutput === undefined) return null
  const amount = formatMoney(addUp([forInput, forOutput]), { currency, language })
  const values = { input: input ?? '', amount }
  return (
    <Text size="sm" role="status">
      {hasOutput ? t('both', { ...values, output: output ?? '' }) : t('inputOnly', values)}
    </Text>
  )
}
