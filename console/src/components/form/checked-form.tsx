/** A form that marks the field named by a refusal and moves the focus to it. */
import { Stack } from '@mantine/core'
import { createContext, type ReactNode, useContext, useLayoutEffect, useRef, useState } from 'react'
import { ApiError } from '../../lib/api.ts'
import { useErrorText } from '../state/error-state.tsx'
import { InvalidField } from './invalid-field.ts'
import { Refusal } from './refusal.tsx'

interface RefusedField {
  /** The server's name of the field, for example `prices[0].amount`. */
  readonly param: string
  readonly text: string
}

const RefusedFieldContext = createContext<RefusedField | undefined>(undefined)

interface CheckedFormProps {
  readonly failure: Error | null | undefined
  readonly onSubmit: (form: HTMLFormElement) => void
  /** The buttons, below the reason of a refusal that no field shows. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export function CheckedForm({ failure, onSubmit, actions, children }: CheckedFormProps) {
  const textOf = useErrorText()
  const form = useRef<HTMLFormElement>(null)
  const [isMarked, setMarked] = useState(false)
  const refused = failure ? readRefusedField(failure, textOf(failure)) : undefined
  // Before the browser paints: the reason is never seen in two places.
  useLayoutEffect(() => {
    const field =
      failure && paramOf(failure) !== undefined
        ? form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
        : undefined
    setMarked(Boolean(field))
    field?.focus()
  }, [failure])
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(event.currentTarget)
      }}
    >
      <Stack gap="sm">
        <RefusedFieldContext value={refused}>{children}</RefusedFieldContext>
        <Refusal failure={isMarked ? undefined : (failure ?? undefined)} />
        {actions}
      </Stack>
    </form>
  )
}

/** Returns the `error` of an input: the refusal, if it names `param` or a part of it. */
export function useFieldError(param: string): string | undefined {
  const refused = useContext(RefusedFieldContext)
  if (!refused?.param.startsWith(param)) return undefined
  return /^$|^[.[]/.test(refused.param.slice(param.length)) ? refused.text : undefined
}

function paramOf(failure: Error): string | undefined {
  return failure instanceof ApiError || failure instanceof InvalidField ? failure.param : undefined
}

interface CheckedFieldProps {
  readonly param: string
  readonly children: (error: string | undefined) => ReactNode
}

/** Gives an input of a form its `error`, where the form itself renders the input. */
export function CheckedField({ param, children }: CheckedFieldProps) {
  return children(useFieldError(param))
}

/** The text without the field's name, which the label beside it already says. */
function readRefusedField(failure: Error, text: string): RefusedField | undefined {
  const param = paramOf(failure)
  if (param === undefined) return undefined
  const [line = text] = text.split('\n')
  const at = line.indexOf(`${param}: `)
  return { param, text: at < 0 ? line : line.slice(at + param.length + 2) }
}
