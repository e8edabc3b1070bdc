/** Rates of the price sheet, by the million tokens. */
/** `[amount, per]`: a decimal amount that buys `per` units. */
export type Rates = Readonly<Record<string, readonly [amount: string, per: number]>>

const MILLION = 1_000_000

/** Rates per million tokens. */
export function perMillion(rates: Readonly<Record<string, string>>): Rates {
  const entries = Object.entries(rates)
  return Object.fromEntries(entries.map(([unit, amount]) => [unit, [amount, MILLION] as const]))
}

export function textRates(input: string, cached: string, write: string, output: string): Rates {
  return perMillion({
    input_token: input,
    cached_input_token: cached,
    cache_write_token: write,
    output_token: output,
  })
}

export function claudeRates(amounts: readonly [string, string, string, string, string]): Rates {
  const [input, cached, fiveMinutes, hour, output] = amounts
  return perMillion({
    input_token: input,
    cached_input_token: cached,
    cache_write_5m_token: fiveMinutes,
    cache_write_1h_token: hour,
    output_token: output,
  })
}

export function geminiRates(amounts: readonly [string, string, string, string, string]): Rates {
  const [input, cached, audio, output, picture] = amounts
  return perMillion({
    input_token: input,
    cached_input_token: cached,
    audio_input_token: audio,
    output_token: output,
    image_output_token: picture,
  })
}
