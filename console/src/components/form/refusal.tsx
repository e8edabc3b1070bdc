/** Why a form was refused, where screen readers notice it. */
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
