/** The reason why a form was refused, read out by screen readers. */
import { Text } from '@mantine/core'
import { useErrorText } from '../state/error-state.tsx'
import { CodeText } from '../text/code-text.tsx'

export function Refusal({ failure }: { readonly failure: Error | undefined }) {
  const textOf = useErrorText()
  return (
    <div role="alert">
      {failure ? (
        <Text size="sm" c="var(--mantine-color-error)">
          <CodeText text={textOf(failure)} />
        </Text>
      ) : null}
    </div>
  )
}
