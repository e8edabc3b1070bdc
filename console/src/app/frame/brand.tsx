/** The name and its logo: two streams that join. */
import { Group, Text } from '@mantine/core'

export function Brand() {
  return (
    <Group gap={8} wrap="nowrap">
      <svg width={24} height={24} viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" fill="#176b87" />
        <path
          d="M7 8c5 0 9 3 9 8v9M25 8c-5 0-9 3-9 8"
          fill="none"
          stroke="#fff"
          strokeWidth="3"
          strokeLinecap="round"
        />
      </svg>
      <Text fw={600} size="md" visibleFrom="sm" component="span">
        Tributary
      </Text>
    </Group>
  )
}
