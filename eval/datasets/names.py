"""Names that stand in for others: first names by kind, and lands with their people and cities, in one order.

Nothing here is a common English word, a month or a brand, and no name is both a person's and a place's:
a name that could be read otherwise is better left alone than changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tiermem.text.words import word_list

Kind = Literal["female", "male", "country", "state"]

FEMALE: Final = tuple(
    word_list("""
    Abigail Adele Agnes Alice Alicia Amanda Amelia Amy Andrea Angela Anita Anna Anne Annie Audrey Barbara
    Beatrice Becky Bella Bernadette Bethany Bianca Brenda Bridget Camille Carla Carmen Caroline Catherine
    Cecilia Celeste Christina Claire Clara Claudia Colleen Cora Cynthia Dana Daniela Deborah Delia Denise
    Diana Dolores Donna Doris Dorothy Edith Eileen Elaine Eleanor Elena Elise Elizabeth Ella Ellen Eloise
    Emily Emma Erica Esther Eva Evelyn Felicia Fiona Frances Gabriela Gina Gloria Greta Hannah Harriet
    Heather Helen Helena Ingrid Irene Isabel Isabella Jane Janet Jasmin Jean Jenna Jennifer Jenny Jessica
    Jill Joan Joanna Jolene Josephine Judith Julia Juliet Karen Kate Katherine Kathleen Kelly Kristen Kylie
    Lara Laura Lauren Leah Lena Leslie Lillian Linda Lisa Lorraine Louise Lucia Lucy Luna Lydia Mabel
    Madeline Margaret Maria Marianne Marjorie Marlene Martha Mary Matilda Megan Melanie Melissa Mia
    Michelle Miranda Miriam Monica Muriel Nadia Nancy Naomi Natalie Natasha Nicole Nina Nora Olga Olivia
    Pamela Patricia Paula Pauline Penelope Philippa Phoebe Priscilla Rachel Rebecca Renata Rhoda Rita
    Roberta Rosalind Rosemarie Ruth Sabrina Sally Samantha Sandra Sarah Selena Serena Sheila Shirley Simone
    Sonia Sophia Sophie Stella Stephanie Susan Susanna Sylvia Tamara Tara Teresa Tessa Thelma Tilly Tina
    Tracy Ursula Valerie Vanessa Vera Vivian Wanda Wendy Winifred Yolanda Yvonne Zoe
""")
)

MALE: Final = tuple(
    word_list("""
    Aaron Abraham Adam Adrian Alan Albert Alec Alex Alexander Alfred Allen Alvin Andrew Andy Anthony Arnold
    Arthur Barry Benjamin Bernard Boris Brad Brandon Brendan Brian Bruce Bryan Byron Caleb Calvin Cameron
    Carl Carlos Cedric Charles Charlie Chris Christopher Clarence Clifford Clinton Colin Connor Conrad
    Craig Curtis Cyril Damian Dan Daniel Darren Dave David Dean Dennis Derek Desmond Dominic Donald
    Douglas Duncan Dwight Edgar Edmund Edward Edwin Eli Elias Elliot Emilio Eric Ernest Ethan Eugene Evan
    Felix Fergus Fernando Francis Frederick Gabriel Gareth Gary Geoffrey George Gerald Gilbert Glenn Gordon
    Graham Greg Gregory Harold Harry Harvey Hector Henry Herbert Herman Horace Howard Hubert Hugh Hugo Ian
    Isaac Ivan Jacob Jake James Jared Jason Jasper Jeffrey Jeremy Jerome Joel John Jon Jonathan Joseph Josh
    Joshua Julian Justin Keith Kenneth Kevin Kyle Lawrence Leo Leonard Leonardo Lewis Liam Lionel Lloyd
    Logan Lucas Luke Malcolm Marcus Mario Martin Marvin Matt Matthew Maurice Max Maxwell Melvin
    Michael Miguel Mike Milton Mitchell Morris Nate Nathan Neil Nelson Nicholas Nigel Noah Norman Oliver
    Omar Oscar Oswald Otto Owen Pablo Patrick Paul Pedro Peter Philip Quentin Ralph Raymond Reginald
    Richard Robert Roderick Rodney Roger Roland Ronald Rory Roy Rudolph Rupert Russell Ryan Sam Samuel
    Scott Sean Sebastian Seth Sidney Simon Stanley Stefan Stephen Steve Steven Stuart Terence Terry
    Theodore Thomas Tim Timothy Toby Todd Tom Tony Travis Trevor Tristan Vernon Victor Vincent Walter
    Warren Wayne Wesley Wilfred William Xavier Zachary
""")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Land:
    """A country or a state of the United States, who lives there (`""` where no word is used), its cities."""

    kind: Kind
    name: str
    people: str
    cities: tuple[str, str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """All of its names; those of two lands stand at the same places."""
        return (self.name, self.people, *self.cities)


def _land(kind: Kind, name: str, people: str, *cities: str) -> Land:
    first, second, third = cities
    return Land(kind=kind, name=name, people=people, cities=(first, second, third))


LANDS: Final = (
    _land("country", "Argentina", "Argentinian", "Buenos Aires", "Rosario", "Mendoza"),
    _land("country", "Australia", "Australian", "Melbourne", "Brisbane", "Adelaide"),
    _land("country", "Austria", "Austrian", "Vienna", "Salzburg", "Innsbruck"),
    _land("country", "Brazil", "Brazilian", "Rio de Janeiro", "Recife", "Curitiba"),
    _land("country", "Canada", "Canadian", "Toronto", "Vancouver", "Montreal"),
    _land("country", "Chile", "Chilean", "Valparaiso", "Iquique", "Antofagasta"),
    _land("country", "Colombia", "Colombian", "Bogota", "Medellin", "Cartagena"),
    _land("country", "Croatia", "Croatian", "Zagreb", "Dubrovnik", "Zadar"),
    _land("country", "Denmark", "Danish", "Copenhagen", "Aarhus", "Odense"),
    _land("country", "Ecuador", "Ecuadorian", "Quito", "Guayaquil", "Cuenca"),
    _land("country", "Egypt", "Egyptian", "Cairo", "Luxor", "Aswan"),
    _land("country", "England", "English", "London", "Liverpool", "Bristol"),
    _land("country", "Estonia", "Estonian", "Tallinn", "Tartu", "Narva"),
    _land("country", "Finland", "Finnish", "Helsinki", "Tampere", "Turku"),
    _land("country", "France", "French", "Paris", "Marseille", "Bordeaux"),
    _land("country", "Germany", "German", "Berlin", "Munich", "Cologne"),
    _land("country", "Greece", "Greek", "Athens", "Thessaloniki", "Patras"),
    _land("country", "Hungary", "Hungarian", "Budapest", "Debrecen", "Szeged"),
    _land("country", "Iceland", "Icelandic", "Reykjavik", "Akureyri", "Keflavik"),
    _land("country", "India", "Indian", "Mumbai", "Delhi", "Bangalore"),
    _land("country", "Ireland", "Irish", "Dublin", "Galway", "Limerick"),
    _land("country", "Italy", "Italian", "Rome", "Venice", "Milan"),
    _land("country", "Japan", "Japanese", "Tokyo", "Kyoto", "Osaka"),
    _land("country", "Kenya", "Kenyan", "Nairobi", "Mombasa", "Kisumu"),
    _land("country", "Korea", "Korean", "Seoul", "Busan", "Incheon"),
    _land("country", "Mexico", "Mexican", "Guadalajara", "Puebla", "Oaxaca"),
    _land("country", "Morocco", "Moroccan", "Casablanca", "Marrakesh", "Tangier"),
    _land("country", "Norway", "Norwegian", "Oslo", "Bergen", "Trondheim"),
    _land("country", "Peru", "Peruvian", "Cusco", "Arequipa", "Trujillo"),
    _land("country", "Poland", "Polish", "Warsaw", "Krakow", "Gdansk"),
    _land("country", "Portugal", "Portuguese", "Lisbon", "Porto", "Coimbra"),
    _land("country", "Scotland", "Scottish", "Edinburgh", "Glasgow", "Aberdeen"),
    _land("country", "Spain", "Spanish", "Barcelona", "Madrid", "Seville"),
    _land("country", "Sweden", "Swedish", "Stockholm", "Gothenburg", "Uppsala"),
    _land("country", "Thailand", "Thai", "Bangkok", "Phuket", "Chiang Mai"),
    _land("country", "Vietnam", "Vietnamese", "Hanoi", "Saigon", "Da Nang"),
    _land("state", "Arizona", "", "Tucson", "Flagstaff", "Scottsdale"),
    _land("state", "California", "Californian", "San Francisco", "Los Angeles", "San Diego"),
    _land("state", "Colorado", "", "Denver", "Durango", "Pueblo"),
    _land("state", "Florida", "Floridian", "Miami", "Tampa", "Fort Lauderdale"),
    _land("state", "Illinois", "", "Chicago", "Peoria", "Evanston"),
    _land("state", "Louisiana", "", "New Orleans", "Baton Rouge", "Shreveport"),
    _land("state", "Massachusetts", "", "Boston", "Worcester", "Salem"),
    _land("state", "Michigan", "", "Detroit", "Ann Arbor", "Kalamazoo"),
    _land("state", "Minnesota", "Minnesotan", "Minneapolis", "Duluth", "Mankato"),
    _land("state", "Missouri", "", "Kansas City", "Saint Louis", "Joplin"),
    _land("state", "Nevada", "Nevadan", "Las Vegas", "Reno", "Elko"),
    _land("state", "Ohio", "Ohioan", "Cleveland", "Cincinnati", "Dayton"),
    _land("state", "Oklahoma", "Oklahoman", "Tulsa", "Oklahoma City", "Stillwater"),
    _land("state", "Oregon", "Oregonian", "Portland", "Medford", "Ashland"),
    _land("state", "Tennessee", "Tennessean", "Nashville", "Memphis", "Knoxville"),
    _land("state", "Texas", "Texan", "Dallas", "Houston", "San Antonio"),
    _land("state", "Utah", "Utahn", "Salt Lake City", "Provo", "Moab"),
)  # fmt: skip
