/** Adds up sound in whole samples, so that there is only one division for each sample rate. */
export interface Clock {
  add(samples: number, rate: number): void
  /** Returns 0 while nothing was added. */
  seconds(): number
}

export function createClock(): Clock {
  const samplesByRate = new Map<number, number>()
  return {
    add(samples, rate) {
      samplesByRate.set(rate, (samplesByRate.get(rate) ?? 0) + samples)
    },
    seconds() {
      let seconds = 0
      for (const [rate, samples] of samplesByRate) seconds += samples / rate
      return seconds
    },
  }
}
