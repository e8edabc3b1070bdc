/** A form that marks the fields named by a refusal and moves the focus to the first. */
import { Stack } from '@mantine/core'
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { ApiError } from '../../lib/api.ts'
import { useLanguage, useServerText } from '../../lib/i18n.tsx'
import classes from '../fields/fields.module.css'
import {
  type RefusedField,
  RefusedFieldsContext,
  useFieldErrors,
} from '../fields/refused-fields.ts'
import { useErrorText } from '../state/error-state.tsx'
import { InvalidField, InvalidFields } from './invalid-field.ts'
import { Refusal } from './refusal.tsx'

interface CheckedFormProps {
  readonly failure: Error | null | undefined
  /** True while it is being sent: nobody types what would not be saved. */
  readonly isBusy?: boolean
  readonly onSubmit: (form: HTMLFormElement) => void
  /** The buttons, below the reason of a refusal that no field shows. */
  readonly actions?: ReactNode
  readonly children?: ReactNode
}

export function CheckedForm(props: CheckedFormProps) {
  const { failure, isBusy = false, onSubmit, actions, children } = props
  const textOf = useErrorText()
  const form = useRef<HTMLFormElement>(null)
  const keepFocus = useFocusKept(form, isBusy)
  const [isMarked, setMarked] = useState(false)
  const wordOf = useServerText()
  const { language } = useLanguage()
  // biome-ignore lint/correctness/useExhaustiveDependencies: both say the same in one language
  const refused = useMemo(
    () => (failure ? readRefused(failure, textOf(failure), wordOf) : []),
    [failure, language],
  )
  const count = refused.length
  // Before the browser paints: a reason is never seen in two places.
  useLayoutEffect(() => {
    const fields =
      failure && count > 0
        ? [...(form.current?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? [])]
        : []
    setMarked(fields.length > 0 && fields.length >= count)
    fields[0]?.focus()
  }, [failure, count])
  return (
    <form
      ref={form}
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        keepFocus()
        onSubmit(event.currentTarget)
      }}
    >
      <Stack gap="sm">
        <fieldset className={classes.fields} role="presentation" disabled={isBusy}>
          <RefusedFieldsContext value={refused}>{children}</RefusedFieldsContext>
        </fieldset>
        <div className={classes.refusal}>
          <Refusal failure={isMarked ? undefined : (failure ?? undefined)} />
        </div>
        {actions}
      </Stack>
    </form>
  )
}

/** A dialog that closes has given the focus to what opened it by then. */
const CLOSED_MS = 50

/** Gives the focus back that the form had when it was sent: disabled, a field loses it. */
function useFocusKept(form: RefObject<HTMLFormElement | null>, isBusy: boolean) {
  const focused = useRef<Element>(null)
  useEffect(() => {
    const element = focused.current
    if (isBusy || !(element instanceof HTMLElement)) return undefined
    const timer = setTimeout(() => {
      // The page has it, or a dialog around the form.
      if (document.activeElement?.contains(form.current)) element.focus()
    }, CLOSED_MS)
    return () => clearTimeout(timer)
  }, [form, isBusy])
  return () => {
    focused.current = form.current?.contains(document.activeElement) ? document.activeElement : null
  }
}

/** Returns the `error` of an input: the first refusal that names `param` or a part of it. */
export function useFieldError(param: string): string | undefined {
  return useFieldErrors()(param)
}

interface CheckedFieldProps {
  readonly param: string
  readonly children: (error: string | undefined) => ReactNode
}

/** Gives an input of a form its `error`, where the form itself renders the input. */
export function CheckedField({ param, children }: CheckedFieldProps) {
  return children(useFieldError(param))
}

/** The texts without the fields' names, which the labels beside them already say. */
function readRefused(
  failure: Error,
  text: string,
  wordOf: (text: string) => string,
): readonly RefusedField[] {
  if (failure instanceof ApiError && failure.problems.length > 0) {
    return failure.problems.map(({ param, problem }) => ({ param, text: wordOf(problem) }))
  }
  if (failure instanceof InvalidFields) return failure.problems
  const isNamed = failure instanceof ApiError || failure instanceof InvalidField
  const param = isNamed ? failure.param : undefined
  if (param === undefined) return []
  const [line = text] = text.split('\n')
  const at = line.indexOf(`${param}: `)
  return [{ param, text: at < 0 ? line : line.slice(at + param.length + 2) }]
}
