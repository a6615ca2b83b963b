export default function XPage() {
  return <h1>X</h1>;
}
