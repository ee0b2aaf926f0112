// The input of a control call: JSON from a program or a form from the console, read member by
// member. The answer to a wrong member names it.
import { BankError } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'

export const wrong = (why: string) => new BankError(400, `stand-in: ${why}`)

export function createInput(members: JsonObject) {
  // An empty form field counts as absent.
  const given = (name: string) => (members[name] === '' ? undefined : members[name])

  return {
    members,
    has: (name: string) => given(name) !== undefined,

    text(name: string): string | undefined {
      const value = given(name)
      if (value === undefined || typeof value === 'string') return value
      throw wrong(`${name} is text`)
    },

    whole(name: string): number | undefined {
      const value = given(name)
      if (value === undefined) return undefined
      const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
      if (Number.isInteger(number) && Number(number) >= 0) return Number(number)
      throw wrong(`${name} is a whole number`)
    },

    flag(name: string): boolean | undefined {
      const value = given(name)
      if (value === undefined || typeof value === 'boolean') return value
      if (value === 'true' || value === 'false') return value === 'true'
      throw wrong(`${name} is true or false`)
    },

    object(name: string): JsonObject | undefined {
      const value = given(name)
      if (value === undefined || isObject(value)) return value
      throw wrong(`${name} is an object`)
    },

    word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
      const value = given(name)
      if (value === undefined) return undefined
      const found = words.find((word) => word === value)
      if (found !== undefined) return found
      throw wrong(`${name} is one of ${words.join(', ')}`)
    },
  }
}

export type Input = ReturnType<typeof createInput>

export function readInput(type: string, raw: string): Input {
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return createInput(Object.fromEntries(new URLSearchParams(raw)))
  }
  if (raw === '') return createInput({})
  const value = parse(raw)
  // Lists of rules are bare arrays; everything else is an object.
  if (Array.isArray(value)) return createInput({ list: value })
  if (isObject(value)) return createInput(value)
  throw wrong('the body is not a JSON object')
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    throw wrong('the body is not JSON')
  }
}
