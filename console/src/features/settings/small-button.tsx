/** Small button beside a row. */
import { Button, type ButtonProps } from '@mantine/core'

interface SmallButtonProps extends ButtonProps {
  readonly onClick: () => void
}

export function SmallButton(props: SmallButtonProps) {
  return <Button variant="default" size="compact-sm" {...props} />
}
