/** An amount: fixed places in place, to the last digit on hover and when copied. */
import { Text, type TextProps } from '@mantine/core'
import { CHARGE_PLACES, formatMoney, isZero, legiblePlaces } from '../../lib/format.ts'
import { useLanguage } from '../../lib/i18n.tsx'
import { HoverLabel } from './hover-label.tsx'

/** Longer ones take the room of two figures on a phone. */
const FIGURE_LENGTH_MAX = 13

interface MoneyTextProps extends TextProps {
  /** A decimal string of the API. */
  readonly amount: string
  readonly currency: string
  /** Fixed decimal places, more for an amount too small for them; `exact` shows all digits. */
  readonly places?: number | 'exact'
}

export function MoneyText({ amount, currency, places = CHARGE_PLACES, ...props }: MoneyTextProps) {
  const { language } = useLanguage()
  const exact = formatMoney(amount, { currency, language })
  const shown = (most: number) =>
    formatMoney(amount, { currency, language, places: legiblePlaces(amount, most) })
  const short = places === 'exact' ? exact : shown(places)
  const isShortened = !isSame(short, exact)
  const text = (
    <Text
      component="span"
      inherit
      {...(isZero(amount) ? { c: 'dimmed' } : {})}
      {...(isShortened ? { 'data-copy': exact } : {})}
      {...(short.length > FIGURE_LENGTH_MAX ? { 'data-long': true } : {})}
      {...props}
      style={{ whiteSpace: 'nowrap' }}
    >
      {short}
    </Text>
  )
  return isShortened ? <HoverLabel label={() => exact}>{text}</HoverLabel> : text
}

/** Returns whether two texts differ in trailing zeros at most. */
function isSame(one: string, other: string): boolean {
  const trim = (text: string) => text.replace(/(\.\d*?)0+(?=\D*$)/, '$1')
  return trim(one) === trim(other)
}
