resource-tracker help > one; resource-tracker --help > two; cmp one two
resource-tracker help run > one; cmp one two
resource-tracker help attach > one; resource-tracker attach --help > two; cmp one two
resource-tracker help help | head -1
resource-tracker help atach; echo "$?"
