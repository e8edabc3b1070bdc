/** The reason why a form was refused, read out by screen readers. */
import { Text } from '@mantine/core'
import { useErrorText } from '../state/error-state.tsx'

export function Refusal({ failure }: { readonly failure: Error | undefined }) {
  const textOf = useErrorText()
  return (
    <div role="alert">
      {failure ? (
        <Text size="sm" c="var(--mantine-color-error)">
          {textOf(failure)}
        </Text>
      ) : null}
    </div>
  )
}
