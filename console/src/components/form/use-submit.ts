/** Runs one submission at a time and keeps its error. */
import { useRef, useState } from 'react'
import { useIsShown } from '../../lib/hooks/use-is-shown.ts'
import { notifyFailed } from '../state/notify.ts'

/** Ignores the second click of a double click, which arrives before the button is disabled. */
export function useSubmit<Input>(act: (input: Input) => Promise<void>) {
  const isRunning = useRef(false)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Error>()
  const isShown = useIsShown()
  const submit = async (input: Input) => {
    if (isRunning.current) return
    isRunning.current = true
    setBusy(true)
    setFailure(undefined)
    try {
      await act(input)
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)))
      // The form was closed, or its page was left, before the refusal came.
      if (!isShown.current && !isDismissed(error)) notifyFailed(error)
    } finally {
      isRunning.current = false
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

/** True if the user has closed a prompt of the browser, such as that of a passkey. */
function isDismissed(error: unknown): boolean {
  return error instanceof Error && ['AbortError', 'NotAllowedError'].includes(error.name)
}

/** Returns the named fields of a submitted form. */
export function readFields(form: HTMLFormElement): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : '']),
  )
}
