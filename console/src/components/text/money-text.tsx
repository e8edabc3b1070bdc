/** An amount: short in place, to the last digit on hover. */
import { Text, type TextProps } from '@mantine/core'
import { formatMoney, isZero } from '../../lib/format.ts'
import { useLanguage } from '../../lib/i18n.tsx'
import { HoverLabel } from './hover-label.tsx'

interface MoneyTextProps extends TextProps {
  /** A decimal string of the API. */
  readonly amount: string
  readonly currency: string
  /** Shown places: 2 for balances, more for the cost of a call. */
  readonly places?: number
}

export function MoneyText({ amount, currency, places = 6, ...props }: MoneyTextProps) {
  const { language } = useLanguage()
  const short = formatMoney(amount, { currency, language, places })
  const exact = formatMoney(amount, { currency, language })
  const text = (
    <Text
      component="span"
      inherit
      {...(isZero(amount) ? { c: 'dimmed' } : {})}
      {...props}
      style={{ whiteSpace: 'nowrap' }}
    >
      {short}
    </Text>
  )
  return short === exact ? text : <HoverLabel label={() => exact}>{text}</HoverLabel>
}
