/** Runs one submission at a time and keeps its error. */
import { useState } from 'react'

export function useSubmit<Input>(act: (input: Input) => Promise<void>) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Error>()
  const submit = async (input: Input) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await act(input)
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)))
    } finally {
      setBusy(false)
    }
  }
  return {
    isBusy,
    failure,
    submit: (input: Input) => void submit(input),
    clear: () => setFailure(undefined),
  }
}

/** Returns the named fields of a submitted form. */
export function readFields(form: HTMLFormElement): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : '']),
  )
}
