import { expect, test } from 'vitest'
import { type AnyFunction, type ParameterName, readParameterNames } from './parameter-names.ts'

class Tools {
  async lookUp(id: string, ..._rest: unknown[]) {
    return id
  }

  *['odd (name)'](first: string) {
    yield first
  }
}

const tools = new Tools()

test.each<[string, AnyFunction, ParameterName[], boolean?]>([
  ['an arrow function', (customerId: string, limit = 10) => [customerId, limit], ['customerId', 'limit']],
  ['an async arrow function', async (id: string) => id, ['id']],
  ['an arrow function without parentheses', eval('async id => id') as AnyFunction, ['id']],
  [
    'a function',
    function find(query: string, { deep }: { deep: boolean }) {
      return [query, deep]
    },
    ['query', ['deep']],
  ],
  ['a method', tools.lookUp, ['id', '_rest'], true],
  ['a method with an odd name', tools['odd (name)'], ['first']],
  [
    'a function with commas in its defaults',
    (text = 'a, (b', list = [1, 2], fn = (x: number) => x) => [text, list, fn],
    ['text', 'list', 'fn'],
  ],
  ['a function with comments', eval('(a /* , b */, // c, d\n e) => a') as AnyFunction, ['a', 'e']],
  [
    'destructured parameters',
    eval(
      '({ id, plan: { name = ")" }, "odd-key": odd, ...others } = {}, [first], last) => id',
    ) as AnyFunction,
    [['id', 'plan'], null, 'last'],
  ],
  ['a function without parameters', () => 1, []],
])('reads the parameter names of %s', (_, fn, names, isRest = false) => {
  expect(readParameterNames(fn)).toEqual({ names, isRest, count: isRest ? Infinity : names.length })
})

test.each<[string, AnyFunction, number]>([
  ['that uses `arguments`', eval('(function (a) { return Array.from(arguments) })') as AnyFunction, Infinity],
  ['with a property of that name', (call: { arguments: string }) => JSON.parse(call.arguments) as unknown, 1],
  ['with a key of that name', (a: string) => ({ arguments: a }), 1],
])('how many arguments a function reads %s', (_, fn, count) => {
  expect(readParameterNames(fn)?.count).toBe(count)
})

test.each<[string, unknown]>([
  ['bound', ((a: string) => a).bind(undefined)],
  ['built in', Math.max],
  ['a class', Tools],
  ['a proxy', new Proxy((a: string) => a, {})],
])('a function that is %s has no readable names', (_, fn) => {
  expect(readParameterNames(fn as AnyFunction)).toBeUndefined()
})
